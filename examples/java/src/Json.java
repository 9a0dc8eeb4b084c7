import java.util.Map;

/** Writes JSON. */
final class Json {
    private Json() {}

    static String write(Map<String, Object> object) {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, Object> entry : object.entrySet()) {
            if (text.length() > 1) {
                text.append(',');
            }
            quote(text, entry.getKey());
            text.append(':');
            if (entry.getValue() instanceof String string) {
                quote(text, string);
            } else {
                text.append(entry.getValue());
            }
        }
        return text.append('}').toString();
    }

    private static void quote(StringBuilder text, String string) {
        text.append('"');
        for (int at = 0; at < string.length(); at++) {
            char c = string.charAt(at);
            if (c == '"' || c == '\\') {
                text.append('\\');
            }
            text.append(c);
        }
        text.append('"');
    }
}
