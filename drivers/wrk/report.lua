-- What wrk measured, as JSON: every latency, in µs, and how many answers took it.
-- After `--`: the file to write, the number of connections, the method, the file with the body ("" for none), headers.

function setup(thread)
   only = thread
end

-- Runs in wrk's thread, before wrk makes its one request out of these.
function init(args)
   file, connections = args[1], args[2]
   wrk.method = args[3]
   if args[4] ~= "" then
      local body = assert(io.open(args[4], "rb"))
      wrk.body = body:read("*a")
      body:close()
   end
   for i = 5, #args do
      local name, value = args[i]:match("^(.-):%s*(.*)$")
      wrk.headers[name] = value
   end
end

-- wrk has added answers that never were: for one of n µs, at least twice the expected interval, one of n - interval, of
-- n - 2 × interval and so on above the interval. From the longest down they are told apart, and taken out again.
local function as_measured(latency, interval)
   local counts, longest = {}, 0
   for i = 1, #latency do
      local us, count = latency(i)
      counts[tonumber(us)] = tonumber(count)
      longest = math.max(longest, tonumber(us))
   end
   for us = longest, interval > 0 and 2 * interval or longest + 1, -1 do
      local count, earlier = counts[us] or 0, us - interval
      while count > 0 and earlier > interval do
         counts[earlier] = (counts[earlier] or 0) - count
         earlier = earlier - interval
      end
   end
   return counts, longest
end

function done(summary, latency, requests)
   local errors, duration = summary.errors, tonumber(summary.duration)
   -- As wrk reckons it, in whole numbers.
   local each = math.floor(tonumber(summary.requests) / tonumber(only:get("connections")))
   local counts, longest = as_measured(latency, each > 0 and math.floor(duration / each) or 0)
   local pairs_of = {}
   for us = 0, longest do
      if (counts[us] or 0) ~= 0 then pairs_of[#pairs_of + 1] = ("[%d,%d]"):format(us, counts[us]) end
   end
   local to = assert(io.open(only:get("file"), "w"))
   to:write(('{"duration_us":%d,"requests":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d,"latency_us":[%s]}\n'):format(
      duration, tonumber(summary.requests), errors.connect, errors.read, errors.write, errors.timeout, errors.status, table.concat(pairs_of, ",")))
   to:close()
end
