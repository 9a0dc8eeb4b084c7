# The course of one metric around a step, 1200 × 630 pixels: the picture that is shown where a link to a page is pasted.
# Usage: gnuplot -c step.gnuplot DATA OUT TITLE UNIT (DATA is described in README.md beside this file)

script = ARG0; given = ARGC; data = ARG1; out = ARG2; title = ARG3; unit = ARG4
load script[1:strlen(script)-strlen("step.gnuplot")]."style.gnuplot"
width = 1200

# Before the step, worse, better, of unknown direction: the dashboard's colours of these words.
array step_colour[4] = [0x565C66, 0xB34700, 0x0B5CAD, 0x565C66]

set datafile separator tab
set datafile missing "NaN"
stats data using 1:2 skip 1 nooutput
if (!exists("STATS_records") || STATS_records < 2) {
    printerr sprintf("%s: expected a header and at least two values, found fewer", data)
    exit status 1
}
height = 630
room = bigger(STATS_max_y - STATS_min_y, 2.0)
middle = (STATS_max_y + STATS_min_y) / 2.0

letters = strlen(title)
set label 1 bold(plain_title, letters < 44 ? 40 : letters < 64 ? 30 : 22) at screen 0.04, screen 0.90 textcolor rgb text_colour
set label 2 unit noenhanced at screen 0.04, screen 0.79 textcolor rgb note_colour
unset key
set lmargin at screen 0.11
set rmargin at screen 0.96
set tmargin at screen 0.70
set bmargin at screen 0.07
set xrange [STATS_min_x - 0.5:STATS_max_x + 0.5]
set yrange [middle - 0.62 * room:middle + 0.62 * room]
unset xtics
set ytics scale 0 format "%+g %%"
set grid noxtics ytics
set border 0

plot \
    data skip 1 using 1:($3 == 0 ? $4 : NaN) with lines linewidth 14 linecolor rgb tint_colour[4], \
    data skip 1 using 1:($3 > 0 ? $4 : NaN) with lines linewidth 14 linecolor rgb tint_colour[4], \
    data skip 1 using 1:2:(step_colour[int($3) + 1]) with linespoints linewidth 3 pointtype 7 pointsize 1 linecolor rgb variable

eval (ending eq ".svg" ? "set terminal svg font 'sans-serif,24'" \
    : "set terminal pngcairo font 'DejaVu Sans,24' fontscale 0.75 pointscale 1.5") \
    . sprintf(" enhanced background '#ffffff' size %d,%d", width, height)
set output out
replot
