// `helm test`: opens an account with one cent, pays for a completion, audits the books, and checks that they
// contain exactly its cost. Needs API_URL, OPERATOR_URL, SVC_OPERATOR_TOKEN and MODEL. On failure, prints one
// line and exits with 1.
const { API_URL: api, OPERATOR_URL: operator, SVC_OPERATOR_TOKEN: token, MODEL: model } = process.env;
const deadline = Date.now() + 90_000;

/** USD as nano-dollars. */
function nano(usd) {
  const [whole, part = ''] = String(usd).split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'));
}

async function call(url, bearer, body) {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

const ask = (path, body) => call(`${operator}/operator/v1/${path}`, token, body);

/** Polls until there is a result, or until the deadline. */
async function until(what, attempt) {
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`${what} in time`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

try {
  const { id } = await ask('accounts', { name: 'helm test', paid: true });
  await ask(`accounts/${id}/credits`, { usd: '0.01', reference: `helm-test-${id}` });
  const { apiKey } = await ask(`accounts/${id}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: 'helm test',
  });
  const { cost } = await call(`${api}/api/v1/chat/completions`, apiKey, {
    model,
    messages: [{ role: 'user', content: 'Say this is a test' }],
    max_completion_tokens: 64,
  });
  const costNano = BigInt(Math.round(cost.usd * 1e9));
  if (costNano <= 0n) throw new Error(`${model} costs nothing, so nothing was paid: set test.model`);
  const charged = await until('the charge is not in the books', async () => {
    const { data } = await ask(`accounts/${id}/transfers`);
    const charges = data.filter(({ kind }) => kind === 'charge');
    return charges.length > 0 ? charges.reduce((sum, { amount }) => sum + nano(amount), 0n) : undefined;
  });
  if (charged !== costNano)
    throw new Error(`the answer says ${cost.usd} USD and the books ${charged} nano-dollars`);
  const { balances } = await ask(`accounts/${id}`);
  if (nano(balances.usd) !== nano('0.01') - charged) throw new Error(`the balance is ${balances.usd} USD`);
  const audit = await ask('ledger/audit?scope=new');
  if (!audit.ok) throw new Error(`the audit finds faults: ${JSON.stringify(audit)}`);
  console.log(`${model} answered for ${cost.usd} USD, and the books say the same`);
} catch (error) {
  console.error(error.cause ? `${error.message}: ${error.cause.message ?? error.cause}` : error.message);
  process.exitCode = 1;
}
