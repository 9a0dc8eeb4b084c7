//! The gRPC server's program from outside: real sockets, real signals, both runtimes.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

mod bad;
mod web;

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use contract::users_v1::PageUsersRequest;
use contract::users_v1::users_service_client::UsersServiceClient;
use contract::weather_v1::GetCurrentWeatherRequest;
use contract::weather_v1::weather_service_client::WeatherServiceClient;
use futures_util::StreamExt;
use futures_util::stream::iter;
use server_runtime::testing::{self, Program, RUNTIMES, Running};
use tonic::Code;
use tonic::codec::CompressionEncoding;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};
use tonic_reflection::pb::{v1, v1alpha};

const PROGRAM: Program = Program(env!("CARGO_BIN_EXE_grpc-server"));
const SERVICE: &str = "wirebench.weather.v1.WeatherService";
const STOPS_WITHIN: Duration = Duration::from_secs(2);

server_runtime::test_program!(PROGRAM, ask_often, ["h2"]);

async fn connect(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.timeout(Duration::from_secs(60)).connect().await.unwrap()
}

/// Starts a server on each runtime and hands it over with a connection to it.
async fn on_each_runtime(check: impl AsyncFn(Running, Channel)) {
    for runtime in RUNTIMES {
        let server = PROGRAM.start(&["--runtime", runtime, "--threads", "2"]);
        let channel = connect(server.address).await;
        check(server, channel).await;
    }
}

async fn city_of_answer(channel: &Channel, city: &str) -> Result<String, Code> {
    let request = GetCurrentWeatherRequest { city: city.to_owned() };
    let answer = WeatherServiceClient::new(channel.clone())
        .get_current_weather(request)
        .await;
    answer
        .map(|answer| answer.into_inner().city)
        .map_err(|status| status.code())
}

#[tokio::test]
async fn the_weather_is_answered() {
    on_each_runtime(async |_server, channel| {
        assert_eq!(city_of_answer(&channel, "Kyiv").await, Ok("Kyiv".to_owned()));
        assert_eq!(city_of_answer(&channel, "Atlantis").await, Err(Code::NotFound));
        assert_eq!(city_of_answer(&channel, "").await, Err(Code::InvalidArgument));
    })
    .await;
}

#[tokio::test]
async fn wasted_metadata_is_as_long_as_asked() {
    for (waste, expected) in [("0", None), ("1", Some(1)), ("200", Some(200))] {
        let server = PROGRAM.start(&["--waste-syscalls", "1", "--waste-header-bytes", waste]);
        let mut client = WeatherServiceClient::new(connect(server.address).await);
        // Asked more than once: a connection remembers the metadata it has seen.
        for _ in 0..3 {
            let request = GetCurrentWeatherRequest {
                city: "Kyiv".to_owned(),
            };
            let answer = client.get_current_weather(request).await.unwrap();
            let entry = answer.metadata().get("x-waste");
            assert_eq!(entry.map(|value| value.as_bytes().len()), expected);
        }
    }
}

#[tokio::test]
async fn gzip_is_for_clients_that_accept_it() {
    for (flags, accepted, expected) in [
        (&["--gzip"][..], true, true),
        (&["--gzip"], false, false),
        (&[], true, false),
    ] {
        let server = PROGRAM.start(flags);
        let mut client = UsersServiceClient::new(connect(server.address).await);
        if accepted {
            client = client.accept_compressed(CompressionEncoding::Gzip);
        }
        let answer = client
            .page_users(PageUsersRequest {
                page: Some(1),
                size: Some(50),
            })
            .await
            .unwrap();
        let coding = answer
            .metadata()
            .get("grpc-encoding")
            .is_some_and(|coding| coding == "gzip");
        assert_eq!(coding, expected, "{flags:?} {accepted}");
        assert_eq!(answer.into_inner().users.len(), 50);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn ask_often(address: SocketAddr) {
    let channel = connect(address).await;
    for _ in 0..testing::REQUESTS {
        assert_eq!(city_of_answer(&channel, "Kyiv").await, Ok("Kyiv".to_owned()));
    }
}

#[tokio::test]
async fn a_very_long_unknown_name_is_still_answered() {
    on_each_runtime(async |_server, channel| {
        assert_eq!(
            city_of_answer(&channel, &"ї".repeat(1_000_000)).await,
            Err(Code::NotFound)
        );
    })
    .await;
}

#[tokio::test]
async fn the_server_and_its_service_are_serving() {
    on_each_runtime(async |_server, channel| {
        for service in ["", SERVICE] {
            let request = HealthCheckRequest {
                service: service.to_owned(),
            };
            let health = HealthClient::new(channel.clone()).check(request).await.unwrap();
            assert_eq!(health.into_inner().status(), ServingStatus::Serving);
        }
    })
    .await;
}

#[tokio::test]
async fn reflection_lists_and_describes_the_service() {
    use v1::server_reflection_request::MessageRequest;
    use v1::server_reflection_response::MessageResponse;

    on_each_runtime(async |_server, channel| {
        let mut client = v1::server_reflection_client::ServerReflectionClient::new(channel);
        let mut answers = Vec::new();
        for question in [
            MessageRequest::ListServices(String::new()),
            MessageRequest::FileContainingSymbol(SERVICE.to_owned()),
        ] {
            let request = v1::ServerReflectionRequest {
                host: String::new(),
                message_request: Some(question),
            };
            let mut stream = client
                .server_reflection_info(iter([request]))
                .await
                .unwrap()
                .into_inner();
            answers.push(stream.next().await.unwrap().unwrap().message_response.unwrap());
        }
        let MessageResponse::ListServicesResponse(list) = &answers[0] else {
            panic!("not a list: {answers:?}");
        };
        assert!(list.service.iter().any(|service| service.name == SERVICE), "{list:?}");
        let MessageResponse::FileDescriptorResponse(files) = &answers[1] else {
            panic!("not a description: {answers:?}");
        };
        assert_eq!(files.file_descriptor_proto.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn the_older_reflection_lists_the_service_too() {
    use v1alpha::server_reflection_request::MessageRequest;
    use v1alpha::server_reflection_response::MessageResponse;

    on_each_runtime(async |_server, channel| {
        let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(channel);
        let question = Some(MessageRequest::ListServices(String::new()));
        let request = v1alpha::ServerReflectionRequest {
            host: String::new(),
            message_request: question,
        };
        let mut stream = client
            .server_reflection_info(iter([request]))
            .await
            .unwrap()
            .into_inner();
        let answer = stream.next().await.unwrap().unwrap().message_response.unwrap();
        let MessageResponse::ListServicesResponse(list) = answer else {
            panic!("not a list: {answer:?}");
        };
        assert!(list.service.iter().any(|service| service.name == SERVICE), "{list:?}");
    })
    .await;
}

#[tokio::test]
async fn sigterm_stops_it_despite_open_connections() {
    on_each_runtime(async |server, channel| {
        city_of_answer(&channel, "Kyiv").await.unwrap();
        let silent = TcpStream::connect(server.address).unwrap();
        let (status, took) = server.terminate();
        assert_eq!(status.code(), Some(0));
        assert!(took < STOPS_WITHIN, "{took:?}");
        drop((channel, silent));
    })
    .await;
}

#[tokio::test]
async fn grpc_is_answered_over_tls() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grpc-server-answers");
    let pair = testing::Pair::make(&folder);
    let authority = Certificate::from_pem(fs::read(&pair.authority).unwrap());
    for runtime in RUNTIMES {
        let server = testing::start_secure(PROGRAM, &pair, &["--runtime", runtime]);
        let endpoint = Endpoint::from_shared(format!("https://{}", server.address)).unwrap();
        let tls = ClientTlsConfig::new().ca_certificate(authority.clone());
        let channel = endpoint.tls_config(tls).unwrap().connect().await.unwrap();
        for _ in 0..3 {
            assert_eq!(city_of_answer(&channel, "Kyiv").await, Ok("Kyiv".to_owned()));
        }
    }
}

#[test]
fn slow_beginnings_are_cut_off() {
    testing::slow_heads_are_cut_off(PROGRAM, b"PRI * HTTP/2.0\r\n", None);
}

#[test]
fn metrics_are_shown() {
    let expected = [
        r#"requests_total{protocol="grpc",status="0"} 10"#,
        r#"grpc_requests_total{protocol="grpc",status="0"} 10"#,
        r#"grpc_requests_total{protocol="grpc",status="5"} 1"#,
        r#"request_duration_seconds_count{protocol="grpc",status="0"} 10"#,
    ];
    testing::metrics_are_shown(PROGRAM, &[], ask_often_and_once_in_vain, &expected);
    let web = [r#"grpc_requests_total{protocol="grpc-web",status="0"} 3"#];
    testing::metrics_are_shown(PROGRAM, &["--grpc-web"], web::ask_thrice, &web);
}

fn ask_often_and_once_in_vain(address: SocketAddr) {
    ask_often(address);
    ask_in_vain(address);
}

#[tokio::main(flavor = "current_thread")]
async fn ask_in_vain(address: SocketAddr) {
    let channel = connect(address).await;
    assert_eq!(city_of_answer(&channel, "Atlantis").await, Err(Code::NotFound));
}
