// Command grpc answers for users over gRPC with grpc-go.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"example.org/users/internal/users"
	"example.org/users/internal/usersv1"
)

type service struct {
	usersv1.UnimplementedUsersServer
}

func (service) GetUser(_ context.Context, asked *usersv1.GetUserRequest) (*usersv1.User, error) {
	found, ok := users.Find(asked.GetId())
	if !ok {
		return nil, status.Errorf(codes.NotFound, "no user %d", asked.GetId())
	}
	return &usersv1.User{Id: found.ID, Name: found.Name, Email: found.Email}, nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:50051", "address to listen on")
	flag.Parse()

	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	usersv1.RegisterUsersServer(server, service{})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		server.GracefulStop()
	}()
	if err := server.Serve(listener); err != nil {
		log.Fatal(err)
	}
}
