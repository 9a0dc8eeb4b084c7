// Package users knows the users that both servers answer with.
package users

// User is one of them.
type User struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

var known = map[int64]User{
	1: {ID: 1, Name: "Ada Lovelace", Email: "ada@example.org"},
	2: {ID: 2, Name: "Alan Turing", Email: "alan@example.org"},
}

// Find looks a user up by number.
func Find(id int64) (User, bool) {
	user, ok := known[id]
	return user, ok
}
