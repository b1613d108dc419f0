import { PROVISIONAL_MS } from '@svc/contracts/problems';

/*
 * Each script is one atomic step and uses the server's clock, so that all processes agree on when a window
 * ends.
 *
 * The keys, all with an expiry:
 *   svc:{limits}:{account}:…  hash of a window: ends (Unix ms), a count for each unit, and when a request
 *                             last took of them (at; Unix ms). Kept for one window beyond its end.
 *   svc:{limits}:{global}:…   the same, for all accounts together
 *   svc:{limits}:{account}:open sorted set of request ids by the end of their lease (Unix ms).
 *                             Kept for a lease.
 *   svc:{limits}:{subject}:failures  list of Unix ms, oldest first, no longer than the number allowed
 *   svc:{limits}:{subject}:block     start of the subject's block (Unix ms), kept until the block ends
 */

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Remaining block in ms; 0 if nothing is blocked. A start in the future dates from before the clock was set
 * back.
 */
const BLOCKED = `
local function blockedFor(key, length)
  local began = redis.call('GET', key)
  if not began or tonumber(began) > now then return 0 end
  return math.max(0, began + length - now)
end
`;

/**
 * Counts a request in all of its windows or in none, and in none while its caller is blocked. A booked
 * request was admitted elsewhere: it is never refused, and not counted again while it is running.
 *
 * KEYS  1: the account's running requests. 2: the block of its subject. 3 and on: the windows.
 * ARGV  1: request id. 2: lease, ms. 3: the time of this server after which the caller no longer waits, 0 for
 *       none. 4: maximum number of running requests, -1 for no limit. 5: length of a block, ms. 6: 1 for a
 *       booking, otherwise 0. 7: number of units.
 *       Then each unit: its name, and how much of it the request takes.
 *       Then each window: its length, ms; for a booking the end of the window that it was admitted in (Unix
 *       ms), otherwise 0; the limit of each unit, -1 for no limit.
 * Result  { verdict, now, remaining block of the caller (ms), 1 if a refusal is provisional or else 0, then
 *       for each window its end and the count of each unit after the step }.
 *       The verdict is 0 for admitted. With n windows and m units it is m(i-1)+j if window i has no room for
 *       unit j, mn+1 if too many requests are running, and mn+2 if the caller is blocked. It is -1, followed
 *       only by now, if the call came too late.
 */
export const ADMIT = `${NOW}${BLOCKED}
local notAfter = tonumber(ARGV[3])
if notAfter > 0 and now > notAfter then return { -1, now } end

local isBooked = ARGV[6] == '1'
local units = tonumber(ARGV[7])
local fields = { 'ends' }
local amounts = {}
-- Arguments of HSET: the key, then each field with its value.
local values = { '', 'ends', 0 }
for j = 1, units do
  fields[j + 1] = ARGV[6 + 2 * j]
  amounts[j] = tonumber(ARGV[7 + 2 * j])
  values[2 * j + 2] = fields[j + 1]
end
local at = units + 2
fields[at] = 'at'
values[2 * at] = 'at'

local count = #KEYS - 2
local first = 8 + 2 * units
local step = units + 2
local windows = {}
local endOf = {}
for i = 1, count do
  local length = ARGV[first + (i - 1) * step]
  local window = redis.call('HMGET', KEYS[i + 2], unpack(fields))
  local ends = endOf[length]
  if not ends then
    local ms = tonumber(length)
    ends = now - now % ms + ms
    endOf[length] = ends
  end
  local stored = tonumber(window[1] or 0)
  -- After the clock was set back, the current window stays open.
  if stored > ends and stored <= ends + tonumber(length) then endOf[length] = stored end
  window[1] = stored
  windows[i] = window
end

local blocked = isBooked and 0 or blockedFor(KEYS[2], tonumber(ARGV[5]))
local verdict = blocked > 0 and units * count + 2 or 0
local arg = first
for i, window in ipairs(windows) do
  local ends = endOf[ARGV[arg]]
  if window[1] == ends then
    for j = 2, at do window[j] = tonumber(window[j] or 0) end
  else
    for j = 2, at do window[j] = 0 end
    window[1] = ends
    window.isNew = true
  end
  if verdict == 0 and not isBooked then
    for j = 1, units do
      local max = tonumber(ARGV[arg + 1 + j])
      if max >= 0 and window[j + 1] + amounts[j] > max then
        verdict = units * (i - 1) + j
        break
      end
    end
  end
  arg = arg + step
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local places = isBooked and -1 or tonumber(ARGV[4])
if verdict == 0 and places >= 0 and redis.call('ZCARD', KEYS[1]) >= places then
  verdict = units * count + 1
end

-- A refusal may pass while what is in its way was taken so recently that it may be given back.
local isProvisional = 0
if verdict > 0 and verdict <= units * count + 1 then
  local since = now - ${PROVISIONAL_MS}
  local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
  local isNew = newest and newest - ARGV[2] > since
  if verdict <= units * count then
    local full = math.ceil(verdict / units)
    local isGlobal = string.find(KEYS[full + 2], 'svc:{limits}:{global}:', 1, true) == 1
    isNew = (isNew or isGlobal) and windows[full][at] > since
  end
  if isNew then isProvisional = 1 end
end

local isRunning = isBooked and redis.call('ZSCORE', KEYS[1], ARGV[1])
local result = { verdict, now, blocked, isProvisional }
arg = first
for i, window in ipairs(windows) do
  local ends = window[1]
  if isBooked and (isRunning or tonumber(ARGV[arg + 1]) < ends) then
    window[1] = tonumber(ARGV[arg + 1])
  elseif verdict == 0 then
    values[1] = KEYS[i + 2]
    values[3] = ends
    for j = 1, units do
      window[j + 1] = window[j + 1] + amounts[j]
      values[2 * j + 3] = window[j + 1]
    end
    values[2 * at + 1] = isBooked and window[at] or now
    redis.call('HSET', unpack(values))
    if window.isNew then redis.call('PEXPIREAT', KEYS[i + 2], ends + tonumber(ARGV[arg])) end
  end
  for j = 1, units + 1 do result[#result + 1] = window[j] end
  arg = arg + step
end
if verdict == 0 then
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return result
`;

/**
 * Ends a running request and corrects its counts, once, in those of its windows that are still open.
 *
 * KEYS  1: the account's running requests. 2 and on: the windows.
 * ARGV  1: request id. 2: number of units to correct. Then each of them: its name, and how much to add. Then
 *       the end of each window that it was counted in.
 * Result  1, or 0 if the request was not running: it had already ended, or its lease had lapsed.
 */
export const SETTLE = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
local units = tonumber(ARGV[2])
for i = 2, #KEYS do
  if redis.call('HGET', KEYS[i], 'ends') == ARGV[1 + 2 * units + i] then
    for j = 1, units do
      local unit = ARGV[1 + 2 * j]
      if redis.call('HINCRBY', KEYS[i], unit, ARGV[2 + 2 * j]) < 0 then redis.call('HSET', KEYS[i], unit, 0) end
    end
  end
end
return 1
`;

/**
 * Reads what has been taken in windows, and changes nothing.
 *
 * KEYS  the window of each limit.
 * ARGV  for each limit: the length of its window, ms, and its unit.
 * Result  for each limit the end of its current window, and the count of its unit.
 */
export const PEEK = `${NOW}
local result = {}
for i = 1, #KEYS do
  local length = tonumber(ARGV[2 * i - 1])
  local ends = now - now % length + length
  local window = redis.call('HMGET', KEYS[i], 'ends', ARGV[2 * i])
  local stored = tonumber(window[1] or 0)
  -- After the clock was set back, the current window stays open.
  if stored > ends and stored <= ends + length then ends = stored end
  result[2 * i - 1] = ends
  result[2 * i] = stored == ends and tonumber(window[2] or 0) or 0
end
return result
`;

/**
 * Restarts leases. A request that has ended or lapsed is not restored.
 *
 * KEYS  1: the account's running requests.
 * ARGV  1: lease, ms. 2 and on: request ids.
 * Result  0
 */
export const RENEW = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
`;

/**
 * Counts a failure in a sliding window. The first one beyond the limit blocks the subject and clears the
 * list.
 *
 * KEYS  1: failures of the subject. 2: its block.
 * ARGV  1: number of failures allowed. 2: length of the window, ms. 3: length of a block, ms.
 * Result  remaining block of the subject, ms; 0 if it is not blocked.
 */
export const FAILED = `${NOW}${BLOCKED}
local blocked = blockedFor(KEYS[2], tonumber(ARGV[3]))
if blocked > 0 then return blocked end
-- A failure in the future dates from before the clock was set back.
local newest = redis.call('LINDEX', KEYS[1], -1)
if newest and tonumber(newest) > now then redis.call('DEL', KEYS[1]) end
local opens = now - ARGV[2]
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= opens do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
if redis.call('RPUSH', KEYS[1], now) <= tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], now, 'PX', ARGV[3])
return tonumber(ARGV[3])
`;

/**
 * Returns whether a subject is blocked.
 *
 * KEYS  1: its block.
 * ARGV  1: length of a block, ms.
 * Result  remaining block, ms; 0 if it is not blocked.
 */
export const BLOCK = `${NOW}${BLOCKED}
return blockedFor(KEYS[1], tonumber(ARGV[1]))
`;
