-- wrk's own script, with HTTP/1.0 in the request line.
dofile(debug.getinfo(1, "S").source:match("^@(.*)/") .. "/../../../drivers/wrk/report.lua")

local as_http11 = init

function init(args)
   as_http11(args)
   local format = wrk.format
   wrk.format = function(...)
      return (format(...):gsub(" HTTP/1%.1\r\n", " HTTP/1.0\r\n", 1))
   end
end
