# Latency by quantile, one line a series; both axes are logarithmic, so that the slowest of a million requests keep their room.
# Usage: gnuplot -c latency.gnuplot DATA OUT TITLE UNIT (DATA is described in README.md beside this file)

script = ARG0; given = ARGC; data = ARG1; out = ARG2; title = ARG3; unit = ARG4
load script[1:strlen(script)-strlen("latency.gnuplot")]."style.gnuplot"

# Measure: how many series, how long their labels, the ends of both axes, and the first row that cannot stand on such axes.
series = 0; rows = 0; strange = ""; label_letters = 0
first_tail = 1e300; last_tail = 0.0; fastest = 1e300; slowest = 0.0
array group[64]
smaller(a, b) = a < b ? a : b
known(g) = strlen(g) == 1 && strstrt("0123456", g)
point(tail, seconds, g) = tail >= 1 && seconds > 0 && known(g) && series <= 64 \
    ? (group[series] = int(g) + 1, rows = rows + 1, first_tail = smaller(first_tail, tail), last_tail = bigger(last_tail, tail), \
       fastest = smaller(fastest, seconds), slowest = bigger(slowest, seconds), 1) \
    : (strange = strange eq "" ? sprintf("%g %g", tail, seconds)." … ".g : strange, 1)
# (Columns are read as text: gnuplot 6 skips a row, label included, when an expression names a number the row does not have.)
stats data using (valid(2) ? point(real(strcol(1)), real(strcol(2)), strcol(4)) \
    : (series = series + 1, label_letters = bigger(label_letters, strlen(strcol(1))), 1)) nooutput
if (series == 0 || rows == 0) {
    printerr sprintf("%s: expected a quoted label and at least one row of tail, seconds, q and group, found none", data)
    exit status 1
}
if (strange ne "" || series != STATS_blocks) {
    printerr sprintf("%s: %s", data, strange ne "" \
        ? "row ".strange.": expected tail >= 1, seconds > 0 and a group from 0 to 6, in at most 64 blocks" \
        : sprintf("expected one label in each block, found %d labels in %d blocks", series, STATS_blocks))
    exit status 1
}

# Lay out, in pixels: a title, the unit, the plot, ticks, what x means, a caption, then the key, which never covers the data.
columns = label_letters > 38 ? 1 : 2
lines = int(ceil(series / real(columns)))
head = 72
plot_height = 330
key_top = head + plot_height + 82
height = key_top + 20 * lines + 16
left = 20

set label 1 bold_title at screen across(left), down(28, height) textcolor rgb text_colour
set label 2 unit.", on a logarithmic axis" noenhanced at screen across(left), down(50, height) textcolor rgb text_colour
set label 3 "quantile (p99: 99 of 100 requests were at least this fast)" noenhanced \
    at screen across(left), down(head + plot_height + 44, height) textcolor rgb text_colour
set label 4 "a mark: the median over the rounds of each round's quantile" noenhanced \
    at screen across(left), down(head + plot_height + 66, height) font ",12" textcolor rgb note_colour
set lmargin at screen across(84)
set rmargin at screen across(width - 44)
set tmargin at screen down(head, height)
set bmargin at screen down(head + plot_height, height)
set key at screen across(left), down(key_top, height) left top vertical Left reverse noenhanced \
    maxcols columns maxrows lines samplen 5 spacing key_spacing textcolor rgb text_colour

# x: tail = 1 / (1 - quantile).
set logscale x
set xrange [first_tail / 1.08:last_tail * 1.25]
set xtics ("p50" 2, "p90" 10, "p95" 20, "p99" 100, "p99.9" 1e3, "p99.99" 1e4, "p99.999" 1e5, "p99.9999" 1e6) scale 0

# y: ends at 1, 2 or 5 times a power of ten; ticks there as well, with more of them on a short axis and only powers of ten on a long one.
set logscale y
decade(v) = 10.0 ** floor(log10(v) + 1e-9)
below(v) = v >= 5 * decade(v) ? 5 * decade(v) : v >= 2 * decade(v) ? 2 * decade(v) : decade(v)
above(v) = v <= decade(v) * 1.000001 ? decade(v) : v <= 2 * decade(v) ? 2 * decade(v) : v <= 5 * decade(v) ? 5 * decade(v) : 10 * decade(v)
bottom = below(fastest * 0.95)
top = above(slowest * 1.05)
duration(s) = s < 0.9999e-6 ? sprintf("%g ns", s * 1e9) : s < 0.9999e-3 ? sprintf("%g µs", s * 1e6) \
    : s < 0.9999 ? sprintf("%g ms", s * 1e3) : sprintf("%g s", s)
digits = top / bottom > 1000 ? "1" : top / bottom > 5.001 ? "1 2 5" : "1 1.2 1.5 2 2.5 3 4 5 6 7 8 9"
set yrange [bottom:top]
set ytics () scale 0
do for [power = int(floor(log10(bottom) + 1e-9)):int(ceil(log10(top) - 1e-9))] {
    do for [digit in digits] {
        tick = digit * 10.0 ** power
        if (tick > bottom * 0.999 && tick < top * 1.001) { set ytics add (duration(tick) tick) }
    }
}
set grid xtics ytics
set border 1

# Series i: the colour is its protocol's; dashes repeat after four, marks after twelve.
array mark[12] = [7, 5, 9, 13, 6, 4, 8, 12, 11, 1, 2, 10]
do for [i = 0:series - 1] {
    set linetype 200 + i linecolor rgb line_colour[group[i + 1]] dashtype 1 + i % 4 \
        linewidth 1.8 pointtype mark[i % 12 + 1] pointsize 1
}
plot for [i = 0:series - 1] data index i using 1:2 with linespoints linetype 200 + i title columnheader(1)

eval canvas(height)
set output out
replot
