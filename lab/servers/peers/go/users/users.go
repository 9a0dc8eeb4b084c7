// Package users has what every Go peer streams: the first 100 users of our own servers.
package users

import (
	_ "embed"

	"google.golang.org/protobuf/encoding/protojson"

	"example.org/peers/usersv1"
)

//go:embed users.json
var written []byte

var all = read()

func read() []*usersv1.User {
	var list usersv1.ListUsersResponse
	if err := protojson.Unmarshal(written, &list); err != nil {
		panic(err)
	}
	return list.Users
}

// Stream calls send with count users in the order of their ids, from the beginning again after the last; it stops at the first error.
func Stream(count int32, send func(*usersv1.StreamUsersResponse) error) error {
	for index := range int(count) {
		if err := send(&usersv1.StreamUsersResponse{User: all[index%len(all)]}); err != nil {
			return err
		}
	}
	return nil
}
