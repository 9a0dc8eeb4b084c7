# HTTP or gRPC, job by job: the ratio of server CPU with its interval over one logarithmic axis; HTTP's leads on the left, gRPC's on the right.
# Usage: gnuplot -c jobs.gnuplot DATA OUT TITLE UNIT (DATA is written by `lab claims`: label, at, low, high, side, server CPU, payload, p50)

script = ARG0; given = ARGC; data = ARG1; out = ARG2; title = ARG3; unit = ARG4
load script[1:strlen(script)-strlen("jobs.gnuplot")]."../../../scripts/plot/style.gnuplot"

set datafile separator tab
rows = 0; widest = 0
stats data using (rows = rows + 1, widest = bigger(widest, strlen(strcol(1))), rows) skip 1 nooutput
if (rows == 0) {
    printerr sprintf("%s: expected a header and at least one row, found none", data)
    exit status 1
}

# In pixels: a title, the two directions, a line a row, an axis, a caption.
head = 84
row = 24
foot = 62
height = head + rows * row + foot
left = 330
right = width - 210

# HTTP, nobody, gRPC: as everywhere, and grey.
array side_colour[3] = [line_colour[1], note_colour, line_colour[3]]
array side_mark[3] = [7, 6, 9]

set label 1 bold_title at screen across(20), down(28, height) textcolor rgb text_colour
set label 2 "← HTTP costs less" noenhanced at screen across(left), down(52, height) textcolor rgb side_colour[1]
set label 3 "gRPC costs less →" noenhanced right at screen across(right), down(52, height) textcolor rgb side_colour[3]
set label 4 "gRPC as a multiple of HTTP:" noenhanced at screen across(right + 14), down(52, height) font ",12" textcolor rgb note_colour
set label 5 "CPU" noenhanced at screen across(right + 14), down(72, height) textcolor rgb text_colour
set label 6 "bytes" noenhanced at screen across(right + 80), down(72, height) textcolor rgb text_colour
set label 7 "p50" noenhanced at screen across(right + 146), down(72, height) textcolor rgb text_colour
set label 8 unit noenhanced at screen across(20), down(height - 14, height) font ",12" textcolor rgb note_colour
unset key
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen down(head, height)
set bmargin at screen down(height - foot, height)

# Every interval lies on the axis. NaN, of a heading, is never smaller or larger.
lowest = 0.5; highest = 2.0
stats data using (lowest = $3 < lowest ? $3 : lowest, highest = $4 > highest ? $4 : highest, 1) skip 1 nooutput
set logscale x
first = lowest / 1.05
last = highest * 1.05
set xrange [first:last]
set xtics ("× 16" 0.0625, "× 8" 0.125, "× 4" 0.25, "× 2" 0.5, "× 1" 1, "× 2" 2, "× 4" 4, "× 8" 8) scale 0
set yrange [rows:0]
unset ytics
set grid xtics noytics
set border 0
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linetype 102 linewidth 1.5 front

middle(n) = n + 0.5
plot \
    for [s = 0:2] data skip 1 using (strcol(5) eq sprintf("%d", s) ? $2 : NaN):(middle($0)):3:4 \
        with xerrorbars linecolor rgb side_colour[s + 1] pointtype side_mark[s + 1] pointsize 0.9 linewidth 1.8, \
    data skip 1 using (strcol(5) eq "3" ? first : NaN):(middle($0)):(bold(strcol(1), 13)) \
        with labels left offset first 0, 0 textcolor rgb text_colour, \
    data skip 1 using (strcol(5) eq "3" ? NaN : first):(middle($0)):1 \
        with labels right offset character -1, 0 noenhanced textcolor rgb text_colour, \
    data skip 1 using (last):(middle($0)):6 with labels left offset character 2, 0 noenhanced textcolor rgb text_colour, \
    data skip 1 using (last):(middle($0)):7 with labels left offset character 10, 0 noenhanced textcolor rgb note_colour, \
    data skip 1 using (last):(middle($0)):8 with labels left offset character 18, 0 noenhanced textcolor rgb note_colour

eval canvas(height)
set output out
replot
