import { PROVISIONAL_MS } from '@svc/contracts/problems';

/*
 * Shared parts of the hold book's scripts: amounts, an account with its holds, and what may be taken of it.
 * The keys of an account, all with the hash tag of its bucket:
 *   …:account  hash: v version, u and d posted balances, hu and hd amounts held of them, dc the request
 *              that is resetting its DIEM, t expiry of the keys (Unix ms; 0 for none), m the mark of its
 *              bucket, n when a request last took a hold (Unix ms)
 *   …:holds    hash by request id: a record, see `place`
 *   …:leases   sorted set of request ids by the end of their lease (Unix ms). Settled holds are not in it.
 *   …:posted   sorted set of request ids posted before they were settled, by the time of posting (Unix ms)
 *   …:budgets  hash by key id: what a key with a limit has spent and holds, and when it last took a hold (t)
 * Each bucket has a mark, which proves that none of its data was lost since the mark was made. A mark starts
 * with the id of the server process that made it: any other process, such as a replica or a restart from a
 * file, may lack the latest changes. An account with another mark counts as not loaded.
 *
 * KEYS of each script: those five, and the mark.
 *
 * Amounts are decimal strings of nano-dollars. Lua numbers are exact only up to 2^53, so an amount is
 * computed as a pair: whole dollars, and the remaining nano-dollars.
 *
 * ARGV of each script: 1: now (Unix ms), or -1 for the server's clock. 2: lease, ms. 3: the UTC hour, such as
 * `2026-11-21T13`. Then its own.
 */

/** How long an account's keys are kept while it has no holds, or only leased ones, ms. */
const IDLE_MS = 600_000;

const AMOUNTS = `
local ZERO = { 0, 0 }
local function nano(text)
  local length = #text
  if length <= 9 then return { 0, tonumber(text) } end
  return { tonumber(string.sub(text, 1, length - 9)), tonumber(string.sub(text, length - 8)) }
end
local function text(a)
  if a[1] == 0 then return string.format('%.0f', a[2]) end
  return string.format('%.0f%09.0f', a[1], a[2])
end
local function less(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end
local function lesser(a, b) if less(b, a) then return b end return a end
local function plus(a, b)
  local dollars, rest = a[1] + b[1], a[2] + b[2]
  if rest >= 1000000000 then return { dollars + 1, rest - 1000000000 } end
  return { dollars, rest }
end
-- Not below zero.
local function minus(a, b)
  if less(a, b) then return ZERO end
  local dollars, rest = a[1] - b[1], a[2] - b[2]
  if rest < 0 then return { dollars - 1, rest + 1000000000 } end
  return { dollars, rest }
end
local function tenfold(a)
  local rest = a[2] * 10
  local over = math.floor(rest / 1000000000)
  return { a[1] * 10 + over, rest - over * 1000000000 }
end
`;

const ACCOUNT = `
local accountKey, holdsKey, leasesKey, postedKey, budgetsKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local mark = redis.call('GET', KEYS[6])
local now, leaseMs, hour, today = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], string.sub(ARGV[3], 1, 10)
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local version, usd, diem, heldUsd, heldDiem, changing, keptUntil, takenAt
local isChanged = false

local function open()
  local stored = redis.call('HMGET', accountKey, 'v', 'u', 'd', 'hu', 'hd', 'dc', 't', 'm', 'n')
  if not stored[1] or stored[8] ~= mark then return false end
  version, changing, keptUntil = tonumber(stored[1]), stored[6], tonumber(stored[7] or -1)
  takenAt = tonumber(stored[9] or 0)
  usd, diem, heldUsd, heldDiem = nano(stored[2]), nano(stored[3]), nano(stored[4]), nano(stored[5])
  return true
end

-- Starts over with the balances of the books.
local function begin(postedVersion, postedUsd, postedDiem, keptMs)
  redis.call('DEL', accountKey, holdsKey, leasesKey, budgetsKey)
  redis.call('HSET', accountKey, 'v', postedVersion, 'u', postedUsd, 'd', postedDiem, 'hu', '0', 'hd', '0', 'm', mark)
  redis.call('PEXPIRE', accountKey, keptMs)
end

local known = {}
local function budgetOf(keyId)
  if known[keyId] == nil then
    local packed = redis.call('HGET', budgetsKey, keyId)
    known[keyId] = packed and { of = cmsgpack.unpack(packed) } or false
  end
  return known[keyId]
end

-- The limits of a key and of an end user; nil for each that there is not.
local function limitsIn(limit)
  if limit == '' then return nil, nil end
  local given = cjson.decode(limit)
  return given.period and given or nil, given.user
end

-- Changes the amount that a hold sets aside.
local function change(record, fromUsd, fromDiem, toUsd, toDiem)
  heldUsd = minus(plus(heldUsd, toUsd), fromUsd)
  heldDiem = minus(plus(heldDiem, toDiem), fromDiem)
  isChanged = true
  for _, id in ipairs({ record.counts and record.key or '', record.user or '' }) do
    local budget = id ~= '' and budgetOf(id)
    if budget then
      local of = budget.of
      of.hu = text(minus(plus(nano(of.hu), toUsd), fromUsd))
      of.hd = text(minus(plus(nano(of.hd), toDiem), fromDiem))
      budget.isChanged = true
    end
  end
end

local function recordOf(id)
  local packed = redis.call('HGET', holdsKey, id)
  return packed and cmsgpack.unpack(packed)
end

local function store(id, record) redis.call('HSET', holdsKey, id, cmsgpack.pack(record)) end

local function lease(id) redis.call('ZADD', leasesKey, now + leaseMs, id) end

local function resize(record, toUsd, toDiem)
  change(record, nano(record.au), nano(record.ad), toUsd, toDiem)
  record.au, record.ad = text(toUsd), text(toDiem)
end

local function remove(id, record)
  redis.call('HDEL', holdsKey, id)
  redis.call('ZREM', leasesKey, id)
  change(record, nano(record.au), nano(record.ad), ZERO, ZERO)
  if record.key == '' then
    redis.call('HDEL', accountKey, 'dc')
    changing = false
  end
end

-- Ends the holds whose lease is over.
local function sweep()
  repeat
    local lapsed = redis.call('ZRANGEBYSCORE', leasesKey, '-inf', now, 'LIMIT', 0, 100)
    for _, id in ipairs(lapsed) do
      local record = recordOf(id)
      if record then remove(id, record) else redis.call('ZREM', leasesKey, id) end
    end
  until #lapsed < 100
end

-- A record: the key, the amounts of the hold (u, d), what is set aside (au, ad), the balance before (bu, bd),
-- whether it counts against the key's limit, the end user against whose limit it counts, the limits as the
-- caller passed them, and whether it is settled.
local function place(id, hold, asideUsd, asideDiem, isSettled)
  local ofKey, ofUser = limitsIn(hold.limit)
  local record = {
    key = hold.key, u = hold.u, d = hold.d, au = text(asideUsd), ad = text(asideDiem), bu = hold.bu, bd = hold.bd,
    limit = hold.limit, counts = ofKey and budgetOf(hold.key) ~= false or false,
    user = ofUser and budgetOf(ofUser.id) and ofUser.id or nil, settled = isSettled,
  }
  store(id, record)
  change(record, ZERO, ZERO, asideUsd, asideDiem)
  lease(id)
  return record
end

local function isPosted(id)
  local at = redis.call('ZSCORE', postedKey, id)
  return at and tonumber(at) > now - leaseMs
end

local function remember(id)
  redis.call('ZREMRANGEBYSCORE', postedKey, '-inf', now - leaseMs)
  redis.call('ZADD', postedKey, now, id)
end

-- Writes what has changed and sets how long it is kept: without expiry while a settled hold waits for its
-- posting.
local function close()
  if isChanged then redis.call('HSET', accountKey, 'hu', text(heldUsd), 'hd', text(heldDiem), 'n', takenAt) end
  for keyId, budget in pairs(known) do
    if budget and budget.isChanged then redis.call('HSET', budgetsKey, keyId, cmsgpack.pack(budget.of)) end
  end
  local idle = math.max(${IDLE_MS}, 2 * leaseMs)
  local isWaiting = redis.call('HLEN', holdsKey) > redis.call('ZCARD', leasesKey)
  if isWaiting then
    if keptUntil == 0 then return end
    for i = 1, 5 do redis.call('PERSIST', KEYS[i]) end
    redis.call('HSET', accountKey, 't', 0)
  else
    redis.call('HSET', accountKey, 't', now + idle)
    for i = 1, 5 do redis.call('PEXPIRE', KEYS[i], idle) end
  end
end
`;

/** The number of a day's week, which begins on a Monday. The days are counted from March of the year 0. */
const WEEKS = `
local function weekOf(day)
  local year, month, date = string.match(day, '(%d+)-(%d+)-(%d+)')
  year, month = tonumber(year), tonumber(month) - 3
  if month < 0 then year, month = year - 1, month + 12 end
  local leaps = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return math.floor((365 * year + leaps + math.floor((153 * month + 2) / 5) + tonumber(date) + 1) / 7)
end
`;

const LIMITS = `
local function later(start, spent, since) if since > start then return ZERO end return nano(spent) end

local function spentOf(of, period)
  if period == 'HOUR' then return later(of.hour, of.ru, hour), later(of.hour, of.rd, hour) end
  if period == 'EPOCH' then return later(of.day, of.eu, today), later(of.day, of.ed, today) end
  if period == 'WEEK' then
    local week = weekOf(today)
    return later(of.week, of.wu, week), later(of.week, of.wd, week)
  end
  if period == 'MONTH' then
    local month = string.sub(today, 1, 7)
    return later(of.month, of.mu, month), later(of.month, of.md, month)
  end
  return nano(of.lu), nano(of.ld)
end

local function available() return minus(usd, heldUsd), minus(diem, heldDiem) end

-- What is left within the limit of a key or an end user.
local function within(leftUsd, leftDiem, id, allowed)
  local budget = budgetOf(id)
  if not budget then return ZERO, ZERO end
  local spentUsd, spentDiem = spentOf(budget.of, allowed.period)
  if allowed.usd then
    leftUsd = lesser(leftUsd, minus(nano(allowed.usd), plus(spentUsd, nano(budget.of.hu))))
  end
  if allowed.diem then
    leftDiem = lesser(leftDiem, minus(nano(allowed.diem), plus(spentDiem, nano(budget.of.hd))))
  end
  return leftUsd, leftDiem
end

-- What a request may take: what the account has left, within the limits of the key and the end user.
local function left(keyId, limit, isForAnyUser)
  local leftUsd, leftDiem = available()
  local ofKey, ofUser = limitsIn(limit)
  if ofKey then leftUsd, leftDiem = within(leftUsd, leftDiem, keyId, ofKey) end
  if ofUser and not isForAnyUser then leftUsd, leftDiem = within(leftUsd, leftDiem, ofUser.id, ofUser) end
  return leftUsd, leftDiem
end

local function hasToBeRead(id, period)
  local budget = budgetOf(id)
  return not budget or budget.of.stale or not budget.of.week or (period == 'HOUR' and not budget.of.hour)
end

-- The key or the end user whose spending has to be read first, and the period of its limit.
local function staleOf(keyId, limit)
  local ofKey, ofUser = limitsIn(limit)
  if ofKey and hasToBeRead(keyId, ofKey.period) then return { 'stale', keyId, ofKey.period } end
  if ofUser and hasToBeRead(ofUser.id, ofUser.period) then return { 'stale', ofUser.id, ofUser.period } end
  return nil
end

-- DIEM first. Nil if there is too little.
local function take(fromUsd, fromDiem, wanted, least, preferred)
  local total = plus(fromUsd, fromDiem)
  if preferred and not less(total, tenfold(preferred)) then wanted, least = preferred, preferred end
  if less(total, least) then return nil end
  local taken = lesser(total, wanted)
  local takenDiem = lesser(fromDiem, taken)
  return minus(taken, takenDiem), takenDiem
end

-- Why nothing could be taken: the limit of the end user if its key could have paid, or that of the key if the
-- account itself could have. That may pass while one of the other holds was taken so recently that it may be
-- given back; own is 1 for a request with a hold.
local function shortOf(keyId, limit, own, wanted, least, preferred)
  local ofUsd, ofDiem = available()
  local keyUsd, keyDiem = left(keyId, limit, true)
  local code, at = 'INSUFFICIENT_BALANCE', takenAt
  if take(keyUsd, keyDiem, wanted, least, preferred) then
    local _, ofUser = limitsIn(limit)
    code, at = 'END_USER_SPEND_LIMIT_EXCEEDED', budgetOf(ofUser.id).of.t or 0
  elseif take(ofUsd, ofDiem, wanted, least, preferred) then
    code = less(keyUsd, ofUsd) and 'API_KEY_USD_SPEND_LIMIT_EXCEEDED' or 'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED'
    at = budgetOf(keyId).of.t or 0
  end
  local mayPass = at > now - ${PROVISIONAL_MS} and redis.call('ZCARD', leasesKey) > own
    and take(usd, diem, wanted, least, preferred)
  return { 'short', code, mayPass and '1' or '0' }
end

local function replyOf(record) return { 'hold', record.key, record.u, record.d, record.bu, record.bd, record.limit } end

local function covered(leftUsd, leftDiem, hold)
  return not less(leftUsd, nano(hold.u)) and not less(leftDiem, nano(hold.d))
end

-- Takes a lapsed hold again, in its own currencies, plus more.
local function takeAgain(id, hold, more, least)
  if isPosted(id) then return replyOf(hold) end
  local leftUsd, leftDiem = left(hold.key, hold.limit)
  if not covered(leftUsd, leftDiem, hold) then return { 'gone' } end
  local ofUsd, ofDiem = nano(hold.u), nano(hold.d)
  local moreUsd, moreDiem = take(minus(leftUsd, ofUsd), minus(leftDiem, ofDiem), more, least)
  if not moreUsd then return { 'short', 'INSUFFICIENT_BALANCE' } end
  local againUsd, againDiem = plus(ofUsd, moreUsd), plus(ofDiem, moreDiem)
  hold.u, hold.d = text(againUsd), text(againDiem)
  return replyOf(place(id, hold, againUsd, againDiem, false))
end

-- A hold as passed in ARGV: its request, key, amounts, amounts before, limit.
local function holdAt(i)
  return ARGV[i], {
    key = ARGV[i + 1], u = ARGV[i + 2], d = ARGV[i + 3], bu = ARGV[i + 4], bd = ARGV[i + 5], limit = ARGV[i + 6],
  }
end

local function closed(result)
  close()
  return result
end
`;

/** The prelude of every step. */
export const STEP = AMOUNTS + WEEKS + ACCOUNT + LIMITS;
