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

	"example.org/peers/files"
	"example.org/peers/filesv1"
	"example.org/peers/users"
	"example.org/peers/usersv1"
	"example.org/peers/weather"
	"example.org/peers/weatherv1"
)

type server struct {
	weatherv1.UnimplementedWeatherServiceServer
	usersv1.UnimplementedUsersServiceServer
	filesv1.UnimplementedFilesServiceServer
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

func (server) StreamUsers(request *usersv1.StreamUsersRequest, stream grpc.ServerStreamingServer[usersv1.StreamUsersResponse]) error {
	return users.Stream(request.GetCount(), stream.Send)
}

func (server) Download(context.Context, *filesv1.DownloadRequest) (*filesv1.DownloadResponse, error) {
	return &filesv1.DownloadResponse{Content: files.Content}, nil
}

func (server) Upload(_ context.Context, request *filesv1.UploadRequest) (*filesv1.UploadResponse, error) {
	return &filesv1.UploadResponse{Length: uint32(len(request.Content))}, nil
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	services := grpc.NewServer()
	weatherv1.RegisterWeatherServiceServer(services, server{})
	usersv1.RegisterUsersServiceServer(services, server{})
	filesv1.RegisterFilesServiceServer(services, server{})
	log.Fatal(services.Serve(listener))
}
