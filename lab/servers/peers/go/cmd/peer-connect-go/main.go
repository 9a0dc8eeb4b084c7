// connect-go on net/http: gRPC, gRPC-web and Connect's own protocol on one port.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"

	"connectrpc.com/connect"

	"example.org/peers/users"
	"example.org/peers/usersv1"
	"example.org/peers/usersv1/usersv1connect"
	"example.org/peers/weather"
	"example.org/peers/weatherv1"
	"example.org/peers/weatherv1/weatherv1connect"
)

type server struct {
	usersv1connect.UnimplementedUsersServiceHandler
}

func (server) GetCurrentWeather(_ context.Context, request *connect.Request[weatherv1.GetCurrentWeatherRequest]) (*connect.Response[weatherv1.GetCurrentWeatherResponse], error) {
	found, known := weather.Current(request.Msg.City)
	if !known {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such city"))
	}
	return connect.NewResponse(&weatherv1.GetCurrentWeatherResponse{
		City:         found.City,
		TemperatureC: found.TemperatureC,
		Humidity:     found.Humidity,
		Condition:    found.Condition,
	}), nil
}

func (server) StreamUsers(_ context.Context, request *connect.Request[usersv1.StreamUsersRequest], stream *connect.ServerStream[usersv1.StreamUsersResponse]) error {
	return users.Stream(request.Msg.GetCount(), stream.Send)
}

func main() {
	mux := http.NewServeMux()
	mux.Handle(weatherv1connect.NewWeatherServiceHandler(server{}))
	mux.Handle(usersv1connect.NewUsersServiceHandler(server{}))
	listening := http.Server{Addr: os.Args[1], Handler: mux, Protocols: new(http.Protocols)}
	listening.Protocols.SetHTTP1(true)
	listening.Protocols.SetUnencryptedHTTP2(true)
	log.Fatal(listening.ListenAndServe())
}
