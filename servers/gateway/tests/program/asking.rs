//! Asking a tier over HTTP/1.1 and over gRPC.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use contract::users_v1::PageUsersRequest;
use contract::users_v1::users_service_client::UsersServiceClient;
use contract::weather_v1::GetCurrentWeatherRequest;
use contract::weather_v1::weather_service_client::WeatherServiceClient;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

/// Longer than any answer may take.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(20);

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(GIVE_UP)).unwrap();
    connection
}

/// Asks once; gives status and body.
pub(crate) fn get(address: SocketAddr, path: &str) -> (u16, String) {
    ask(&mut connect(address), path)
}

/// Asks on a connection that stays open; gives status and body.
pub(crate) fn ask(connection: &mut TcpStream, path: &str) -> (u16, String) {
    let question = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    connection.write_all(question.as_bytes()).unwrap();
    answer(connection)
}

/// Reads one answer, whose end the body's known length tells.
pub(crate) fn answer(connection: &mut TcpStream) -> (u16, String) {
    let mut answer = Vec::new();
    loop {
        if let Some(whole) = whole(&answer) {
            return whole;
        }
        let mut piece = [0; 16 * 1024];
        match connection.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => {
                let length = read.unwrap();
                assert_ne!(length, 0, "closed after {:?}", String::from_utf8_lossy(&answer));
                answer.extend_from_slice(&piece[..length]);
            }
        }
    }
}

fn whole(answer: &[u8]) -> Option<(u16, String)> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = str::from_utf8(&answer[..end]).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    let body = &answer[end + 4..];
    let status = head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
    (body.len() == length).then(|| (status, String::from_utf8(body.to_vec()).unwrap()))
}

async fn channel(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.timeout(GIVE_UP).connect().await.unwrap()
}

/// The code that a page of users is answered with.
pub(crate) async fn page_code(address: SocketAddr, page: i32, size: i32) -> Code {
    let asked = PageUsersRequest {
        page: Some(page),
        size: Some(size),
    };
    let answer = UsersServiceClient::new(channel(address).await).page_users(asked).await;
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}

/// The code that the weather of a city is answered with.
pub(crate) async fn weather_code(address: SocketAddr, city: &str) -> Code {
    let asked = GetCurrentWeatherRequest { city: city.to_owned() };
    let answer = WeatherServiceClient::new(channel(address).await)
        .get_current_weather(asked)
        .await;
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}
