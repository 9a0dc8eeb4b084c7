// grpc-go as its documentation shows it.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.org/peers/weather"
	"example.org/peers/weatherv1"
)

type server struct {
	weatherv1.UnimplementedWeatherServiceServer
}

func (server) GetCurrentWeather(_ context.Context, request *weatherv1.GetCurrentWeatherRequest) (*weatherv1.GetCurrentWeatherResponse, error) {
	found, known := weather.Current(request.City)
	if !known {
		return nil, status.Error(codes.NotFound, "no such city")
	}
	return &weatherv1.GetCurrentWeatherResponse{
		City:         found.City,
		TemperatureC: found.TemperatureC,
		Humidity:     found.Humidity,
		Condition:    found.Condition,
	}, nil
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	services := grpc.NewServer()
	weatherv1.RegisterWeatherServiceServer(services, server{})
	log.Fatal(services.Serve(listener))
}
