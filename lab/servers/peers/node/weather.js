// The data of every Node.js peer: the same cities, in memory, as our own servers.
const rows = [
  ["Kyiv", 21.5, 60, "Cloudy"], ["Lviv", 19.5, 72, "Rainy"], ["Odesa", 24.5, 58, "Sunny"],
  ["London", 16.5, 78, "Rainy"], ["Paris", 20.5, 64, "Cloudy"], ["Berlin", 18.5, 66, "Windy"],
  ["Oslo", 12.5, 70, "Cloudy"], ["Cairo", 33.5, 25, "Sunny"], ["Nairobi", 23.5, 55, "Clear"],
  ["Tokyo", 25.5, 69, "Humid"], ["Quito", 14.5, 81, "Foggy"], ["Lima", 17.5, 83, "Cloudy"],
];
const cities = new Map(
  rows.map(([city, temperatureC, humidity, condition]) => [city.toLowerCase(), { city, temperatureC, humidity, condition }]),
);

// A city's weather, or undefined; the name's case and blanks around it do not matter.
export const current = (city) => cities.get(city.trim().toLowerCase());
