import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The users there are. */
final class Users {
    private static final List<String> NAMES = List.of("Ada Lovelace", "Grace Hopper", "Barbara Liskov");
    private static final List<String> MAILS = List.of("ada@example.org", "grace@example.org", "barbara@example.org");

    /** The user of that number, from 1 on. */
    Optional<Map<String, Object>> find(String id) {
        int number = number(id);
        if (number < 1 || number > NAMES.size()) {
            return Optional.empty();
        }
        Map<String, Object> user = new LinkedHashMap<>();
        user.put("id", number);
        user.put("name", NAMES.get(number - 1));
        user.put("email", MAILS.get(number - 1));
        return Optional.of(user);
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException none) {
            return 0;
        }
    }
}
