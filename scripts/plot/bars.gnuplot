# One value a series with the spread of its rounds: bars from zero, a mark at the median, a whisker from low to high.
# Usage: gnuplot -c bars.gnuplot DATA OUT TITLE UNIT (DATA is described in README.md beside this file)

script = ARG0; given = ARGC; data = ARG1; out = ARG2; title = ARG3; unit = ARG4
load script[1:strlen(script)-strlen("bars.gnuplot")]."style.gnuplot"

array protocol[7] = ["HTTP/1.1", "h2c", "gRPC", "process", "HTTPS", "gRPC over TLS", "gRPC-web"]
array mark[7] = [7, 5, 9, 13, 6, 8, 11]

# Measure: how many rows, how far right, how long the texts, which protocols, and the first row that makes no sense.
set datafile separator tab
array occurs[7] = [0, 0, 0, 0, 0, 0, 0]
rows = 0; strange = 0; largest = 0.0; text_letters = 0; note_letters = 0; starred = 0
seen(g) = strlen(g) == 1 && strstrt("0123456", g) ? (occurs[int(g) + 1] = 1) : (strange = strange ? strange : rows + 1)
reach(text) = text eq "NaN" ? 0 : (largest = bigger(largest, real(text)))
stats data using (rows = rows + 1, seen(strcol(5)), reach(strcol(2)), reach(strcol(4)), \
    text_letters = bigger(text_letters, strlen(strcol(6))), \
    note_letters = bigger(note_letters, strlen(strcol(7))), starred = bigger(starred, strstrt(strcol(7), "*")), rows) skip 1 nooutput
if (rows == 0) {
    printerr sprintf("%s: expected a header and at least one row, found none", data)
    exit status 1
}
if (strange) {
    printerr sprintf("%s:%d: group: expected 0 (HTTP/1.1), 1 (h2c), 2 (gRPC), 3 (process), 4 (HTTPS), 5 (gRPC over TLS) or 6 (gRPC-web)", data, strange)
    exit status 1
}

# Lay out, in pixels: a title, a legend, two lines a row (label above bar), an axis, a caption.
head = 78
row = 44
foot = 82
height = head + rows * row + foot
left = 20
right = width - 20 - letter * (text_letters + (note_letters ? note_letters + 2 : 0)) - 12

set label 1 bold_title at screen across(left), down(28, height) textcolor rgb text_colour
set label 2 unit noenhanced at screen across(left), down(height - 36, height) textcolor rgb text_colour
set label 3 "bar and mark: median of the rounds; whisker: smallest and largest round" \
    .(starred ? "; *: client-bound, the load generator was the limit" : "") noenhanced \
    at screen across(left), down(height - 14, height) font ",12" textcolor rgb note_colour
x = left + 6
do for [g = 0:6] {
    if (occurs[g + 1]) {
        set label 10 + g "" at screen across(x), down(54, height) \
            point pointtype mark[g + 1] pointsize 1.1 linecolor rgb line_colour[g + 1]
        set label 20 + g protocol[g + 1] noenhanced at screen across(x + 12), down(54, height) textcolor rgb text_colour
        x = x + 40 + letter * strlen(protocol[g + 1])
    }
}
unset key
set lmargin at screen across(left)
set rmargin at screen across(right)
set tmargin at screen down(head, height)
set bmargin at screen down(height - foot, height)

# Ticks at 1, 2 or 5 times a power of ten, about five of them, with thousands set apart.
decade(v) = 10.0 ** floor(log10(v))
nice(v) = v <= decade(v) ? decade(v) : v <= 2 * decade(v) ? 2 * decade(v) : v <= 5 * decade(v) ? 5 * decade(v) : 10 * decade(v)
spaced(v) = v < 1000 ? sprintf("%g", v) : v < 1e6 ? sprintf("%d,%03d", int(v) / 1000, int(v) % 1000) \
    : sprintf("%d,%03d,%03d", int(v) / 1000000, int(v) / 1000 % 1000, int(v) % 1000)
if (largest == 0) { largest = 1.0 }
step = nice(largest / 5.0)
set xrange [0:largest * 1.02]
set xtics () scale 0
do for [i = 0:floor(largest * 1.02 / step)] { set xtics add (spaced(i * step) i * step) }

set yrange [rows:0]
unset ytics
set grid xtics noytics
set border 0
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linetype 102 linewidth 1.5 front

bar(n) = n + 0.66
plot \
    data skip 1 using (0):(bar($0)):(0):2:(bar($0) - 0.17):(bar($0) + 0.17):(tint_colour[int($5) + 1]) \
        with boxxyerror linecolor rgb variable, \
    for [g = 0:6] data skip 1 using ($5 == g ? $2 : NaN):(bar($0)):3:4 \
        with xerrorbars linecolor rgb line_colour[g + 1] pointtype mark[g + 1] pointsize 1.1 linewidth 1.8, \
    data skip 1 using (0):($0 + 0.26):1 with labels left offset character 0.6, 0 noenhanced textcolor rgb text_colour, \
    data skip 1 using (largest * 1.02):(bar($0)):(bold(strcol(6), 13)) with labels right offset character (text_letters + 1), 0 \
        textcolor rgb text_colour, \
    data skip 1 using (largest * 1.02):(bar($0)):7 with labels left offset character (text_letters + 3), 0 \
        noenhanced textcolor rgb note_colour

eval canvas(height)
set output out
replot
