/*
 * Each script is one atomic step and uses the server's clock, so that all processes agree on when a window
 * ends.
 *
 * The keys, all with an expiry:
 *   svc:{limits}:{account}:…  hash of a window: ends (Unix ms), requests, tokens. Kept for one window
 *                             beyond its end.
 *   svc:{limits}:{global:…}   the same, for all accounts together
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
 * ARGV  1: request id. 2: tokens. 3: length of a window, ms. 4: lease, ms. 5: the time of this server after
 *       which the caller no longer waits, 0 for none. 6: maximum number of running requests, -1 for no limit.
 *       7: length of a block, ms. 8: for a booking the end of the window that it was admitted in (Unix ms),
 *       otherwise 0.
 *       Then the limits of each window: requests, tokens; -1 for no limit.
 * Result  { verdict, now, ends, remaining block of the caller (ms), then the counts of each window after the
 *       step: requests, tokens }.
 *       The verdict is 0 for admitted; 2i-1 if window i has no room for the request, 2i if it has none for
 *       its tokens; with n windows, 2n+1 if too many requests are running, and 2n+2 if the caller is
 *       blocked. It is -1, followed only by now, if the call came too late.
 */
export const ADMIT = `${NOW}${BLOCKED}
local notAfter = tonumber(ARGV[5])
if notAfter > 0 and now > notAfter then return { -1, now } end

local tokens = tonumber(ARGV[2])
local length = tonumber(ARGV[3])
local ends = now - now % length + length
local windows = {}
for i = 3, #KEYS do
  local stored = redis.call('HMGET', KEYS[i], 'ends', 'requests', 'tokens')
  local window = { ends = tonumber(stored[1] or 0), requests = tonumber(stored[2] or 0), tokens = tonumber(stored[3] or 0) }
  -- After the clock was set back, the current window stays open.
  if window.ends > ends and window.ends <= ends + length then ends = window.ends end
  windows[i - 2] = window
end

local bookedEnds = tonumber(ARGV[8])
local isBooked = bookedEnds > 0
local blocked = isBooked and 0 or blockedFor(KEYS[2], tonumber(ARGV[7]))
local verdict = blocked > 0 and 2 * #windows + 2 or 0
for i, window in ipairs(windows) do
  if window.ends ~= ends then
    window.isNew = true
    window.requests = 0
    window.tokens = 0
  end
  if verdict == 0 and not isBooked then
    local requestsFit = tonumber(ARGV[7 + 2 * i])
    local tokensFit = tonumber(ARGV[8 + 2 * i])
    if requestsFit >= 0 and window.requests + 1 > requestsFit then
      verdict = 2 * i - 1
    elseif tokensFit >= 0 and window.tokens + tokens > tokensFit then
      verdict = 2 * i
    end
  end
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local places = isBooked and -1 or tonumber(ARGV[6])
if verdict == 0 and places >= 0 and redis.call('ZCARD', KEYS[1]) >= places then
  verdict = 2 * #windows + 1
end

local isCounted = not isBooked or (bookedEnds >= ends and not redis.call('ZSCORE', KEYS[1], ARGV[1]))
if verdict == 0 then
  for i, window in ipairs(isCounted and windows or {}) do
    window.requests = window.requests + 1
    window.tokens = window.tokens + tokens
    redis.call('HSET', KEYS[i + 2], 'ends', ends, 'requests', window.requests, 'tokens', window.tokens)
    if window.isNew then redis.call('PEXPIREAT', KEYS[i + 2], ends + length) end
  end
  redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end

local result = { verdict, now, isCounted and ends or bookedEnds, blocked }
for _, window in ipairs(windows) do
  result[#result + 1] = window.requests
  result[#result + 1] = window.tokens
end
return result
`;

/**
 * Ends a running request and corrects its counts, once, in those of its windows that are still open.
 *
 * KEYS  1: the account's running requests. 2 and on: the windows.
 * ARGV  1: request id. 2: the end of the windows it was counted in. 3: requests to add, 0 or -1.
 *       4: tokens to add.
 * Result  1, or 0 if the request was not running: it had already ended, or its lease had lapsed.
 */
export const SETTLE = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
for i = 2, #KEYS do
  if redis.call('HGET', KEYS[i], 'ends') == ARGV[2] then
    if ARGV[3] ~= '0' then redis.call('HINCRBY', KEYS[i], 'requests', ARGV[3]) end
    if redis.call('HINCRBY', KEYS[i], 'tokens', ARGV[4]) < 0 then redis.call('HSET', KEYS[i], 'tokens', 0) end
  end
end
return 1
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
