import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/** The answers of the server. */
final class Handlers {
    private final Users users;

    Handlers(Users users) {
        this.users = users;
    }

    void health(HttpExchange exchange) throws IOException {
        reply(exchange, 200, Map.of("status", "ok"));
    }

    void user(HttpExchange exchange) throws IOException {
        String id = exchange.getRequestURI().getPath().substring("/users/".length());
        Optional<Map<String, Object>> user = users.find(id);
        if (user.isPresent()) {
            reply(exchange, 200, user.get());
        } else {
            reply(exchange, 404, Map.of("error", "no such user"));
        }
    }

    private void reply(HttpExchange exchange, int status, Map<String, Object> value) throws IOException {
        byte[] body = Json.write(value).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
