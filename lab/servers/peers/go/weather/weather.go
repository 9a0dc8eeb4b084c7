// Package weather has the data of every Go peer: the same cities, in memory, as our own servers.
package weather

import "strings"

// Weather is the current weather of one city.
type Weather struct {
	City         string  `json:"city"`
	TemperatureC float64 `json:"temperatureC"`
	Humidity     uint32  `json:"humidity"`
	Condition    string  `json:"condition"`
}

var cities = []Weather{
	{"Kyiv", 21.5, 60, "Cloudy"}, {"Lviv", 19.5, 72, "Rainy"}, {"Odesa", 24.5, 58, "Sunny"},
	{"London", 16.5, 78, "Rainy"}, {"Paris", 20.5, 64, "Cloudy"}, {"Berlin", 18.5, 66, "Windy"},
	{"Oslo", 12.5, 70, "Cloudy"}, {"Cairo", 33.5, 25, "Sunny"}, {"Nairobi", 23.5, 55, "Clear"},
	{"Tokyo", 25.5, 69, "Humid"}, {"Quito", 14.5, 81, "Foggy"}, {"Lima", 17.5, 83, "Cloudy"},
}

// Current finds a city by its name; its case and blanks around it do not matter.
func Current(city string) (*Weather, bool) {
	wanted := strings.TrimSpace(city)
	for index := range cities {
		if strings.EqualFold(cities[index].City, wanted) {
			return &cities[index], true
		}
	}
	return nil, false
}
