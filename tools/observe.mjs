// `npm run observe`: a Prometheus that scrapes the local processes, and a page of links. The processes are
// those of `npm run cluster`, or else `all` on its default ports. Starts Grafana with the dashboards if
// `grafana` is installed. `npm run observe -- --page 9099 --prometheus 9090`; Ctrl-C stops everything.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Prometheus } from '@svc/infra';
import { dataDir } from './data-dir.mjs';
import { matchersOfBoard, asShown } from './observe/board-scope.mjs';
import { BOARDS, panelsOf } from './observe/boards.mjs';
import { scoped } from './observe/scope.mjs';
import { OBJECTIVES, ratioName } from './observe/slo.mjs';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    page: { type: 'string', default: '9099' },
    prometheus: { type: 'string', default: '9090' },
    grafana: { type: 'string', default: '3010' },
    every: { type: 'string', default: '15' },
  },
});
const folder = join(dataDir, 'observe');

const answers = (address) =>
  fetch(`http://${address}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** The processes and their token: those of the last started cluster, if it still responds, or `all`. */
async function whatRuns() {
  const text = await readFile(join(dataDir, 'cluster', 'metrics.json'), 'utf8').catch(() => undefined);
  const cluster = text && JSON.parse(text);
  if (cluster && (await answers(cluster.processes[0].address))) return cluster;
  const address = `127.0.0.1:${process.env.OPERATOR_PORT ?? '3001'}`;
  if (!(await answers(address)))
    throw new Error('no platform is running: start one with npm start or npm run cluster');
  const { SVC_METRICS_TOKEN, SVC_OPERATOR_TOKEN } = process.env;
  const kept = () => readFile(join(dataDir, 'operator-token'), 'utf8').then((token) => token.trim());
  return {
    processes: [{ job: 'all', address }],
    token: SVC_METRICS_TOKEN ?? SVC_OPERATOR_TOKEN ?? (await kept()),
  };
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const link = (href, text) => `<li><a href="${escaped(href)}">${escaped(text)}</a></li>`;

/** Links to a panel's queries in Prometheus. */
function graphOf(url, { title, queries }, matchers) {
  const parameters = queries.flatMap(([expr], at) => [
    [`g${at}.expr`, asShown(scoped(expr, matchers))],
    [`g${at}.tab`, '0'],
    [`g${at}.range_input`, '1h'],
  ]);
  return link(`${url}/graph?${new URLSearchParams(parameters)}`, title);
}

function page(url, grafana) {
  const boards = Object.values(BOARDS).map(
    (board) =>
      `<h2>${board.title}</h2><ul>${panelsOf(board)
        .map((panel) => graphOf(url, panel, matchersOfBoard(board)))
        .join('')}</ul>`,
  );
  const objectives = OBJECTIVES.map(({ slo }) =>
    link(`${url}/graph?${new URLSearchParams([['g0.expr', `${ratioName('5m')}{slo="${slo}"}`]])}`, slo),
  );
  return `<!doctype html><meta charset="utf-8"><title>Svc</title>
<h1>Svc</h1><ul>${link(`${url}/alerts`, 'Alerts')}${link(`${url}/targets`, 'Processes')}${grafana ? link(grafana, 'Grafana') : ''}</ul>
<h2>Objectives</h2><ul>${objectives.join('')}</ul>${boards.join('')}`;
}

/** The path of Grafana, if it is installed. */
async function startGrafana(url) {
  if (spawnSync('grafana', ['--version']).error) return undefined;
  const provisioning = join(folder, 'grafana');
  const source = {
    name: 'Prometheus',
    type: 'prometheus',
    uid: 'prometheus',
    access: 'proxy',
    url,
    isDefault: true,
  };
  const boards = {
    name: 'svc',
    type: 'file',
    options: { path: join(root, 'deploy/charts/platform/files/dashboards') },
  };
  for (const [kind, content] of [
    ['datasources', { apiVersion: 1, datasources: [source] }],
    ['dashboards', { apiVersion: 1, providers: [boards] }],
  ]) {
    await mkdir(join(provisioning, kind), { recursive: true });
    // JSON is valid YAML.
    await writeFile(join(provisioning, kind, 'svc.yaml'), JSON.stringify(content));
  }
  const env = {
    ...process.env,
    GF_PATHS_PROVISIONING: provisioning,
    GF_PATHS_DATA: join(folder, 'grafana-data'),
    GF_SERVER_HTTP_ADDR: '127.0.0.1',
    GF_SERVER_HTTP_PORT: values.grafana,
    GF_AUTH_ANONYMOUS_ENABLED: 'true',
  };
  return spawn('grafana', ['server', '--homepath', process.env.GRAFANA_HOME ?? '/usr/share/grafana'], {
    env,
    stdio: 'ignore',
  });
}

const stopping = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
const grafanaUrl = `http://127.0.0.1:${values.grafana}`;
try {
  const { processes, token } = await whatRuns();
  const options = {
    folder,
    processes,
    token,
    everySeconds: Number(values.every),
    port: Number(values.prometheus),
  };
  const prometheus = await Prometheus.start(options);
  const grafana = await startGrafana(prometheus.url);
  const html = page(prometheus.url, grafana && grafanaUrl);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  });
  server.listen(Number(values.page), '127.0.0.1');
  await once(server, 'listening');
  console.log(`
  Links          http://127.0.0.1:${server.address().port}
  Prometheus     ${prometheus.url}
  Grafana        ${grafana ? grafanaUrl : 'is not installed'}
  Processes      ${processes.map(({ job, address }) => `${job} ${address}`).join(', ')}
`);
  await stopping;
  server.close();
  grafana?.kill();
  await prometheus.stop();
} catch (error) {
  console.error(error.code === 'ENOENT' ? 'prometheus is not on the PATH' : error.message);
  process.exitCode = 1;
}
