import { END_USER } from '@svc/contracts/ports';
import { EVICTION_STEPS, MAX_USERS } from './hold-accounts.js';
import { STEP } from './hold-lua.js';

/*
 * Each script is one step on one account, run by the server that stores it; `hold-lua.ts` documents the keys.
 */

/** How long a posted balance of an unloaded account is kept, so that reads under way can end first, ms. */
const NEWS_MS = 60_000;

/** Postings that may be missing before a counted one; beyond that the key's spending is read again. */
const MAX_AHEAD = 16;

/**
 * ARGV  4: request. 5: key. 6: amount. 7: least. 8: preferred or empty. 9: limits of the key and the end
 *       user as JSON or empty.
 *       10: maximum number of holds of an account.
 * Result  { hold, key, usd, diem, usd before, diem before, limit }, { short, code, 1 if that may pass or
 *       else 0 }, or what has to come first: { miss }, { wait }, { stale, key or end user, period of its
 *       limit }, { full }
 */
export const HOLD = `${STEP}
if not open() then return { 'miss' } end
sweep()
if changing then return closed({ 'wait' }) end
local id, keyId, limit = ARGV[4], ARGV[5], ARGV[9]
local stale = staleOf(keyId, limit)
if stale then return closed(stale) end
local earlier = recordOf(id)
if earlier then return closed(replyOf(earlier)) end
if redis.call('HLEN', holdsKey) >= tonumber(ARGV[10]) then return closed({ 'full' }) end
local wanted, least, preferred = nano(ARGV[6]), nano(ARGV[7]), ARGV[8] ~= '' and nano(ARGV[8]) or nil
local beforeUsd, beforeDiem = available()
local leftUsd, leftDiem = left(keyId, limit)
local takenUsd, takenDiem = take(leftUsd, leftDiem, wanted, least, preferred)
if not takenUsd then return closed(shortOf(keyId, limit, 0, wanted, least, preferred)) end
local hold = {
  key = keyId, u = text(takenUsd), d = text(takenDiem), bu = text(beforeUsd), bd = text(beforeDiem), limit = limit,
}
local record = place(id, hold, takenUsd, takenDiem, false)
takenAt = now
for _, id in ipairs({ record.counts and keyId or '', record.user or '' }) do
  if id ~= '' then budgetOf(id).of.t = now end
end
return closed(replyOf(record))
`;

/** Result  { available, usd, diem } or { miss } */
export const AVAILABLE = `${STEP}
if not open() then return { 'miss' } end
sweep()
local leftUsd, leftDiem = available()
return closed({ 'available', text(leftUsd), text(leftDiem) })
`;

/**
 * ARGV  4: the most holds.
 * Result  { open, then for each hold that is not settled, the latest renewed first: request, key, usd, diem,
 *       ms until it lapses }. An account that is not loaded has none.
 */
export const OPEN_HOLDS = `${STEP}
local result = { 'open' }
if not open() then return result end
sweep()
local leased = redis.call('ZREVRANGE', leasesKey, 0, ARGV[4] - 1, 'WITHSCORES')
for i = 1, #leased, 2 do
  local record = recordOf(leased[i])
  if record and not record.settled and record.key ~= '' then
    local leftMs = string.format('%.0f', leased[i + 1] - now)
    for _, value in ipairs({ leased[i], record.key, record.au, record.ad, leftMs }) do
      result[#result + 1] = value
    end
  end
end
return closed(result)
`;

/**
 * ARGV  4: request.
 * Result  { rest, diem } or { miss }
 */
export const HOLD_REST = `${STEP}
if not open() then return { 'miss' } end
sweep()
local earlier = recordOf(ARGV[4])
if earlier then return closed({ 'rest', earlier.ad }) end
local leftUsd, leftDiem = available()
redis.call('HSET', accountKey, 'dc', ARGV[4])
local hold = { key = '', u = '0', d = text(leftDiem), bu = text(leftUsd), bd = text(leftDiem), limit = '' }
place(ARGV[4], hold, ZERO, leftDiem, false)
return closed({ 'rest', text(leftDiem) })
`;

/**
 * ARGV  4 to 10: a hold. 11: more. 12: least of it.
 * Result  as of HOLD, or { settled }, or { gone } if the hold had lapsed and its money is now held by others
 */
export const EXTEND = `${STEP}
if not open() then return { 'miss' } end
sweep()
if changing then return closed({ 'wait' }) end
local id, hold = holdAt(4)
local stale = staleOf(hold.key, hold.limit)
if stale then return closed(stale) end
local more, least = nano(ARGV[11]), nano(ARGV[12])
local record = recordOf(id)
if not record then return closed(takeAgain(id, hold, more, least)) end
if record.settled then return closed({ 'settled' }) end
local heldNano = plus(nano(record.u), nano(record.d))
local missing = minus(plus(plus(nano(hold.u), nano(hold.d)), more), heldNano)
if less(ZERO, missing) then
  local leastMissing = minus(missing, minus(more, least))
  local leftUsd, leftDiem = left(hold.key, hold.limit)
  local moreUsd, moreDiem = take(leftUsd, leftDiem, missing, leastMissing)
  if not moreUsd then return closed(shortOf(hold.key, hold.limit, 1, missing, leastMissing)) end
  local grownUsd, grownDiem = plus(nano(record.u), moreUsd), plus(nano(record.d), moreDiem)
  record.u, record.d = text(grownUsd), text(grownDiem)
  resize(record, grownUsd, grownDiem)
  store(id, record)
end
lease(id)
return closed(replyOf(record))
`;

/**
 * ARGV  4 to 10: a hold. 11, 12: its cost.
 * Result  { done } or { miss }
 */
export const SETTLE = `${STEP}
if not open() then return { 'miss' } end
local id, hold = holdAt(4)
local costUsd, costDiem = nano(ARGV[11]), nano(ARGV[12])
local record = recordOf(id)
if not record then
  -- Durable although its hold is gone. It gets a lease, because a repeated charge may have been posted
  -- before.
  if not isPosted(id) then place(id, hold, costUsd, costDiem, true) end
elseif not record.settled then
  resize(record, costUsd, costDiem)
  record.settled = true
  store(id, record)
  redis.call('ZREM', leasesKey, id)
end
return closed({ 'done' })
`;

/**
 * ARGV  4: request.
 * Result  { done }
 */
export const RELEASE = `${STEP}
if not open() then return { 'done' } end
local record = recordOf(ARGV[4])
if record and not record.settled then remove(ARGV[4], record) end
return closed({ 'done' })
`;

/**
 * ARGV  4 and on: holds, seven values each.
 * Result  { renewed, then for each hold: kept, ended, again, gone, stale }, or { miss }.
 *       A hold is gone if its money is held by others.
 */
export const RENEW = `${STEP}
if not open() then return { 'miss' } end
local result = { 'renewed' }
for i = 4, #ARGV, 7 do
  local id, hold = holdAt(i)
  local record = recordOf(id)
  local outcome = 'ended'
  if record and not record.settled then
    lease(id)
    outcome = 'kept'
  elseif not record and not isPosted(id) then
    if staleOf(hold.key, hold.limit) then
      outcome = 'stale'
    else
      outcome = takeAgain(id, hold, ZERO, ZERO)[1] == 'gone' and 'gone' or 'again'
    end
  end
  result[#result + 1] = outcome
end
sweep()
return closed(result)
`;

const SPENDING = `
-- Returns whether to count a posting, whatever the order of arrival: the charges of a missing one are still
-- held. A posting without its spending ends such holds, so the spending has to be read again.
local function post(of, postedVersion, spends)
  if of.stale or postedVersion <= of.v then return false end
  if not spends then
    of.stale = true
    return true
  end
  local ahead = of.ahead or {}
  for _, counted in ipairs(ahead) do
    if counted == postedVersion then return false end
  end
  ahead[#ahead + 1] = postedVersion
  table.sort(ahead)
  while ahead[1] == of.v + 1 do of.v = table.remove(ahead, 1) end
  of.ahead, of.stale = ahead, #ahead > ${MAX_AHEAD}
  return true
end

local function spend(of, inHour, moreUsd, moreDiem)
  if of.hour and inHour > of.hour then of.hour, of.ru, of.rd = inHour, text(moreUsd), text(moreDiem)
  elseif inHour == of.hour then of.ru, of.rd = text(plus(nano(of.ru), moreUsd)), text(plus(nano(of.rd), moreDiem)) end
  local day = string.sub(inHour, 1, 10)
  of.lu, of.ld = text(plus(nano(of.lu), moreUsd)), text(plus(nano(of.ld), moreDiem))
  local week = weekOf(day)
  if of.week and week > of.week then of.week, of.wu, of.wd = week, text(moreUsd), text(moreDiem)
  elseif week == of.week then of.wu, of.wd = text(plus(nano(of.wu), moreUsd)), text(plus(nano(of.wd), moreDiem)) end
  local month = string.sub(day, 1, 7)
  if month > of.month then of.month, of.mu, of.md = month, text(moreUsd), text(moreDiem)
  elseif month == of.month then of.mu, of.md = text(plus(nano(of.mu), moreUsd)), text(plus(nano(of.md), moreDiem)) end
  if day > of.day then of.day, of.eu, of.ed = day, text(moreUsd), text(moreDiem)
  elseif day == of.day then of.eu, of.ed = text(plus(nano(of.eu), moreUsd)), text(plus(nano(of.ed), moreDiem)) end
end
`;

/**
 * Sets an account's balances if they are newer, and ends the holds of posted requests.
 *
 * ARGV  4: version. 5: usd. 6: diem. 7: number of requests, followed by them.
 *       Then the number of spendings, -1 if unknown, followed by four values each: key, hour, usd, diem.
 * Result  { done }
 */
export const POST = `${STEP}${SPENDING}
local postedVersion = tonumber(ARGV[4])
local ids = tonumber(ARGV[7])
local isKnown = open()
if isKnown then
  if postedVersion > version then
    redis.call('HSET', accountKey, 'v', ARGV[4], 'u', ARGV[5], 'd', ARGV[6])
  end
  local at = 8 + ids
  local count = tonumber(ARGV[at])
  local spends = {}
  for i = at + 1, at + 4 * count, 4 do
    spends[ARGV[i]] = spends[ARGV[i]] or {}
    table.insert(spends[ARGV[i]], i)
  end
  for _, keyId in ipairs(redis.call('HKEYS', budgetsKey)) do
    local budget = budgetOf(keyId)
    if post(budget.of, postedVersion, count >= 0) then
      budget.isChanged = true
      for _, i in ipairs(not budget.of.stale and spends[keyId] or {}) do
        spend(budget.of, ARGV[i + 1], nano(ARGV[i + 2]), nano(ARGV[i + 3]))
      end
    end
  end
elseif postedVersion >= 0 and mark then
  -- A read under way may have missed this posting.
  begin(ARGV[4], ARGV[5], ARGV[6], ${NEWS_MS})
end
for i = 8, 7 + ids do
  local record = isKnown and recordOf(ARGV[i])
  if not record or not record.settled then remember(ARGV[i]) end
  if record then remove(ARGV[i], record) end
end
if isKnown then close() else redis.call('PEXPIRE', postedKey, leaseMs) end
return { 'done' }
`;

/**
 * Loads an account's balances from the books.
 *
 * ARGV  4: version. 5: usd. 6: diem. 7: the mark, read before the books were.
 * Result  { done }, or { lost } if the bucket's mark has changed
 */
export const LOAD = `${STEP}
if open() then return { 'done' } end
if mark ~= ARGV[7] then return { 'lost' } end
-- Keys that briefly outlived the account are equally old, so they are dropped.
begin(ARGV[4], ARGV[5], ARGV[6], ${NEWS_MS})
return { 'done' }
`;

/**
 * Loads the spending of a key or an end user from the books.
 *
 * ARGV  4: key or end user. 5: version. 6: hour. 7, 8: usd and diem of the day. 9, 10: of the week.
 *       11, 12: of the month. 13, 14: of all time. 15, 16: of the hour, if its limit is for an hour.
 * Result  { done }, { miss }, or { old } if the account has a newer version
 */
export const BUDGET = `${STEP}
-- Makes room for an end user: others that hold nothing are read again when they are needed.
local function forgetUsers()
  for _, id in ipairs(redis.call('HRANDFIELD', budgetsKey, ${EVICTION_STEPS})) do
    local of = budgetOf(id).of
    if string.sub(id, 1, ${END_USER.length}) == '${END_USER}' and of.hu == '0' and of.hd == '0' then
      redis.call('HDEL', budgetsKey, id)
    end
  end
end

if not open() then return { 'miss' } end
if tonumber(ARGV[5]) < version then return { 'old' } end
local budget = budgetOf(ARGV[4])
local day = string.sub(ARGV[6], 1, 10)
local of = {
  v = tonumber(ARGV[5]), stale = false, day = day, eu = ARGV[7], ed = ARGV[8], week = weekOf(day),
  wu = ARGV[9], wd = ARGV[10], month = string.sub(day, 1, 7), mu = ARGV[11], md = ARGV[12], lu = ARGV[13],
  ld = ARGV[14], hu = '0', hd = '0', hour = ARGV[15] and ARGV[6] or nil, ru = ARGV[15], rd = ARGV[16],
}
if budget then of.hu, of.hd, of.t = budget.of.hu, budget.of.hd, budget.of.t end
known[ARGV[4]] = { of = of, isChanged = true }
if not budget and redis.call('HLEN', budgetsKey) >= ${MAX_USERS} then forgetUsers() end
return closed({ 'done' })
`;

const SERVER = `
-- The id of the server's process. A server that does not report one is treated as never changing.
local function server()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
end
`;

/**
 * The mark of a bucket if this server process made it. A mark made by another one is removed.
 *
 * KEYS  1: the mark. Result  the mark, or an empty string
 */
export const MARK_OF = `${SERVER}
local mark, id = redis.call('GET', KEYS[1]), server()
if not mark then return '' end
if string.sub(mark, 1, #id) == id then return mark end
redis.call('DEL', KEYS[1])
return ''
`;

/**
 * Creates the mark of a bucket if it has none.
 *
 * KEYS  1: the mark. ARGV  1: a unique value. Result  the mark
 */
export const MAKE_MARK = `${SERVER}
redis.call('SET', KEYS[1], server() .. ' ' .. ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
`;
