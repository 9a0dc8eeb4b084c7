import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.Json;
import java.util.List;

/** Vert.x with one event loop. */
public final class Server {
  /** The current weather of one city; JSON has its names in this order. */
  public record Weather(String city, double temperatureC, int humidity, String condition) {}

  private static final List<Weather> CITIES = List.of(
      new Weather("Kyiv", 21.5, 60, "Cloudy"), new Weather("Lviv", 19.5, 72, "Rainy"),
      new Weather("Odesa", 24.5, 58, "Sunny"), new Weather("London", 16.5, 78, "Rainy"),
      new Weather("Paris", 20.5, 64, "Cloudy"), new Weather("Berlin", 18.5, 66, "Windy"),
      new Weather("Oslo", 12.5, 70, "Cloudy"), new Weather("Cairo", 33.5, 25, "Sunny"),
      new Weather("Nairobi", 23.5, 55, "Clear"), new Weather("Tokyo", 25.5, 69, "Humid"),
      new Weather("Quito", 14.5, 81, "Foggy"), new Weather("Lima", 17.5, 83, "Cloudy"));

  public static void main(String[] arguments) {
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    vertx.createHttpServer(new HttpServerOptions().setAcceptBacklog(4096))
        .requestHandler(Server::respond)
        .listen(Integer.parseInt(arguments[1]), arguments[0])
        .onFailure(failure -> {
          System.err.println(failure.getMessage());
          System.exit(1);
        });
  }

  private static void respond(HttpServerRequest request) {
    switch (request.path()) {
      case "/api/weather/current" -> weather(request);
      case "/health" -> request.response().end("ok");
      default -> request.response().setStatusCode(404).end();
    }
  }

  private static void weather(HttpServerRequest request) {
    String wanted = request.getParam("city", "").strip();
    for (Weather weather : CITIES) {
      if (weather.city().equalsIgnoreCase(wanted)) {
        request.response().putHeader("content-type", "application/json").end(Json.encodeToBuffer(weather));
        return;
      }
    }
    request.response().setStatusCode(404).end();
  }
}
