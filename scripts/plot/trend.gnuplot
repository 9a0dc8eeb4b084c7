# A metric through its pushes: the middle of each stretch as a line, its smallest to largest as a band, single points as dots.
# Usage: gnuplot -c trend.gnuplot DATA OUT TITLE UNIT (DATA is described in README.md beside this file)
# A script that calls this one may set before: colour, of style.gnuplot's, 1 to 4; least, the smallest height of the axis in its unit; and
# intervals, 1 if smallest and largest are the ends of the 95 % interval of a point instead of the range of several.

script = ARG0; given = ARGC; data = ARG1; out = ARG2; title = ARG3; unit = ARG4
load script[1:strlen(script)-strlen("trend.gnuplot")]."style.gnuplot"

colour = exists("colour") ? colour : 1
least = exists("least") ? least : 0
intervals = exists("intervals") ? intervals : 0

# Measure: how many stretches, whether any holds more than one value, and the ends of both axes.
rows = 0; wide = 0; first_place = 1e300; last_place = -1e300; low = 1e300; high = -1e300
smaller(a, b) = a < b ? a : b
seen(place, l, h) = (rows = rows + 1, wide = wide || l < h, first_place = smaller(first_place, place), \
    last_place = bigger(last_place, place), low = smaller(low, l), high = bigger(high, h), 1)
stats data using (seen(real(strcol(1)), real(strcol(2)), real(strcol(4)))) nooutput
if (rows == 0) {
    printerr sprintf("%s: expected at least one row of place, smallest, middle and largest, found none", data)
    exit status 1
}

# Few points have whiskers, many a band.
dots = rows <= 120 ? 1 : 0
range = intervals ? (dots ? "whisker" : "band").": 95 % interval; " : "line: middle, band: smallest to largest of several runs; "

width = 960
height = 360
set label 1 bold_title at screen across(20), down(28, height) textcolor rgb text_colour
set label 2 unit noenhanced at screen across(20), down(50, height) textcolor rgb text_colour
set label 3 (wide ? range : "") . "x: pushes in the order of their commits; y does not start at zero" \
    noenhanced at screen across(20), down(height - 12, height) font ",12" textcolor rgb note_colour
set lmargin at screen across(84)
set rmargin at screen across(width - 24)
set tmargin at screen down(66, height)
set bmargin at screen down(height - 58, height)
unset key

# At least 4 % of the value are shown unless told otherwise, so that noise does not fill the height.
middle = (low + high) / 2
reach = bigger((high - low) * 1.1, least > 0 ? least : 0.04 * abs(middle))
# (1.0, not 1: half of the integer 1 is 0.)
reach = reach > 0 ? reach : 1.0
set yrange [middle - reach / 2:middle + reach / 2]
pad = bigger(1, 0.01 * (last_place - first_place))
set xrange [first_place - pad:last_place + pad]
set format y "%.5g"
set tics scale 0
set grid ytics
set border 1
# (An empty line in the data lifts the pen.)
set style fill solid 1.0 noborder
whiskers = intervals && dots
plot \
    data using 1:(whiskers ? NaN : $2):4 with filledcurves linecolor rgb tint_colour[colour] notitle, \
    data using 1:(whiskers ? $3 : NaN):2:4 with yerrorbars pointtype 0 linecolor rgb line_colour[colour] linewidth 1 notitle, \
    data using 1:3 with lines linecolor rgb line_colour[colour] linewidth (dots ? 1 : 1.5) notitle, \
    data using 1:(dots ? $3 : NaN) with points pointtype 7 pointsize 0.45 linecolor rgb line_colour[colour] notitle

eval canvas(height)
set output out
replot
