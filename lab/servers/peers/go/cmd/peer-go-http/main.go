// net/http and encoding/json.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"example.org/peers/files"
	"example.org/peers/weather"
)

func main() {
	http.HandleFunc("GET /api/weather/current", current)
	http.HandleFunc("GET /api/file", func(writer http.ResponseWriter, _ *http.Request) { _, _ = writer.Write(files.Content) })
	http.HandleFunc("POST /api/file", upload)
	http.HandleFunc("GET /health", func(writer http.ResponseWriter, _ *http.Request) { _, _ = writer.Write([]byte("ok")) })
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func current(writer http.ResponseWriter, request *http.Request) {
	found, known := weather.Current(request.URL.Query().Get("city"))
	if !known {
		http.Error(writer, "no such city", http.StatusNotFound)
		return
	}
	body, err := json.Marshal(found)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	_, _ = writer.Write(body)
}

func upload(writer http.ResponseWriter, request *http.Request) {
	content, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintf(writer, `{"length":%d}`, len(content))
}
