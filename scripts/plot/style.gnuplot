# Shared by every plot: checks the arguments, and fixes canvas, fonts, colours and grid.
# Expects script, given (how many arguments), data, out, title and unit; `load` hides ARG0 … ARG4 from this file.
# A script plots into the void first and opens its canvas last (eval canvas(HEIGHT)), so that an error leaves no picture behind.

if (given != 4) {
    printerr sprintf("usage: gnuplot -c %s DATA OUT TITLE UNIT", script)
    exit status 2
}

ending = strlen(out) > 4 ? out[strlen(out)-3:] : ""
if (ending ne ".svg" && ending ne ".png") {
    printerr sprintf("%s: expected a name that ends in .svg or .png", out)
    exit status 2
}

set encoding utf8
set terminal dumb
set output "/dev/null"
width = 800
letter = 8  # pixels, generous: an SVG is shown with whatever sans-serif font its reader has
canvas(height) = (ending eq ".svg" \
    ? "set terminal svg font 'sans-serif,13'" \
    : "set terminal pngcairo font 'DejaVu Sans,13' fontscale 0.75 pointscale 1.5") \
    . sprintf(" enhanced background '#ffffff' size %d,%d", width, height)
key_spacing = ending eq ".svg" ? 1.0 : 1.33  # 20 pixels a line on either canvas

# Pixels from the left and from the top to gnuplot's screen coordinates.
across(x) = x / real(width)
down(y, height) = 1 - y / real(height)

# One colour a protocol, the same as on the dashboard: HTTP/1.1, h2c, gRPC, process, HTTPS, gRPC over TLS, gRPC-web.
# Told apart in colour, in grey and by people who see fewer colours; always with a mark or a dash as well.
array line_colour[7] = [0x004488, 0x4A7FB5, 0xBB5566, 0x000000, 0x00617A, 0x8A2F42, 0x997700]
array tint_colour[7] = [0xB3C7DB, 0xD3E2F0, 0xEBCCD1, 0xC4C4C4, 0xB3D0D7, 0xDCC0C6, 0xE0D6B3]
text_colour = 0x222222
note_colour = 0x5A5A5A

set linetype 101 linecolor rgb 0xDDDDDD linewidth 1
set linetype 102 linecolor rgb 0x444444 linewidth 1
set grid linetype 101
set border linetype 102
set tics textcolor rgb text_colour nomirror
set style fill solid 1.0 noborder

bigger(a, b) = a > b ? a : b

# Bold needs gnuplot's markup, so whatever else would be markup in the text is escaped; all other text is noenhanced.
bold(text, pixels) = sprintf("{/:Bold=%d %s}", pixels, text)
plain_title = ""
do for [i = 1:strlen(title)] {
    plain_title = plain_title . (strstrt("{}_^@&~\\", title[i:i]) ? "\\" : "") . title[i:i]
}
# A long title is set smaller instead of being cut off.
bold_title = bold(plain_title, strlen(title) > 64 ? 13 : 16)
