import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ComposeStack } from './stack.js';

const PROMETHEUS = new URL('../../../../deploy/monitoring/prometheus.yml', import.meta.url);

interface Job {
  readonly job_name: string;
  readonly dns_sd_configs: readonly { readonly names: readonly string[]; readonly port: number }[];
}

describe('the services of compose.yaml, as local processes', () => {
  let stack: ComposeStack;
  let key: string;

  beforeAll(async () => {
    stack = await ComposeStack.start();
    key = /API key\s+(SVC_INFERENCE_KEY_\S+)/.exec(stack.output('first-account'))?.[1] ?? '';
    return () => stack.stop();
  }, 240_000);

  async function operator<Body>(path: string): Promise<Body> {
    const response = await fetch(`${await stack.url('api-gateway', 3001)}/operator/v1/${path}`, {
      headers: { authorization: `Bearer ${stack.secret('SVC_OPERATOR_TOKEN')}` },
    });
    return (await response.json()) as Body;
  }

  it('generate a response, charge it to the first account, and prove the books', async () => {
    const response = await fetch(`${await stack.url('api-gateway', 3000)}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(response.status).toBe(200);
    const { cost } = (await response.json()) as { cost: { usd: number } };
    expect(cost.usd).toBeGreaterThan(0);
    const { data } = await operator<{ data: { id: string }[] }>('accounts');
    expect(data).toHaveLength(1);
    const path = `accounts/${data[0]?.id}`;
    await expect
      .poll(() => operator<{ balances: { usd: string } }>(path), { timeout: 30_000 })
      .toMatchObject({ balances: { usd: expect.stringMatching(/^9\.99/) as string } });
    expect(await operator('ledger/audit?scope=whole')).toMatchObject({ ok: true });
  });

  it('search the web with the simulator', async () => {
    const response = await fetch(`${await stack.url('api-gateway', 3000)}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'default',
        messages: [{ role: 'user', content: 'How is a charge settled?' }],
        svc_parameters: { enable_web_search: 'on', enable_web_citations: true },
      }),
    });
    expect(response.status).toBe(200);
    const body = JSON.stringify(await response.json());
    expect(body).toContain('"web_search_citations":[{');
  });

  it('open no second account when they are restarted', async () => {
    const output = await stack.again('first-account');
    expect(output).toBe('Accounts already exist, so no first account was opened.\n');
    expect((await operator<{ data: unknown[] }>('accounts')).data).toHaveLength(1);
  });

  it('report their metrics where Prometheus scrapes them, only with its token', async () => {
    const { scrape_configs: jobs } = parse(await readFile(PROMETHEUS, 'utf8')) as { scrape_configs: Job[] };
    expect(jobs.length).toBeGreaterThan(5);
    for (const { job_name: name, dns_sd_configs: found } of jobs) {
      const url = `${await stack.url(name, found[0]?.port ?? 0)}/metrics`;
      const authorization = `Bearer ${stack.secret('SVC_METRICS_TOKEN')}`;
      const read = await fetch(url, { headers: { authorization } });
      expect(await read.text()).toContain(`service_name="${name}"`);
      expect((await fetch(url)).status).toBe(401);
    }
  });

  it('exit with 0 when they are stopped', async () => {
    expect(await stack.stop()).toEqual([]);
  });
});
