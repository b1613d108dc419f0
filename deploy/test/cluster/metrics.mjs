// The metrics API (metrics.k8s.io), behind the API server like metrics-server, with a load that the test
// sets.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';

const GROUP = 'metrics.k8s.io';
const VERSION = 'v1beta1';
const ROOT = `/apis/${GROUP}/${VERSION}`;
const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${GROUP}/${VERSION}`,
  resources: [
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
  ],
};

export class Metrics {
  /** The usage of each pod. */
  cpu = '1m';

  constructor(plane) {
    this.plane = plane;
    this.api = plane.api;
  }

  async start() {
    const { certificate } = this.plane;
    const [cert, key] = await Promise.all([
      readFile(certificate),
      readFile(certificate.replace(/crt$/, 'key')),
    ]);
    this.server = createServer({ cert, key }, (request, response) => {
      this.#answer(request.url).then(
        (body) => {
          response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body ?? {}));
        },
        (error) => response.writeHead(500).end(error.message),
      );
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    await this.#register(this.server.address().port);
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Services of a cluster can't have addresses of this machine, but a name that resolves to one. */
  async #register(port) {
    const service = { name: 'metrics', namespace: 'kube-system' };
    await this.api.create('/api/v1/namespaces/kube-system/services', {
      metadata: service,
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await this.api.create('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `${VERSION}.${GROUP}` },
      spec: {
        group: GROUP,
        version: VERSION,
        service: { ...service, port },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    });
  }

  async #answer(url) {
    const { pathname, searchParams } = new URL(url, 'https://metrics');
    if (pathname === ROOT) return RESOURCES;
    const [, namespace] = /\/namespaces\/([^/]+)\/pods$/.exec(pathname) ?? [];
    if (!namespace) return undefined;
    const selector = encodeURIComponent(searchParams.get('labelSelector') ?? '');
    const pods = await this.api.items(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`);
    const timestamp = new Date().toISOString();
    const items = pods.map(({ metadata, spec }) => ({
      metadata: { name: metadata.name, namespace, labels: metadata.labels },
      timestamp,
      window: '10s',
      containers: spec.containers.map(({ name }) => ({ name, usage: { cpu: this.cpu, memory: '100Mi' } })),
    }));
    return { kind: 'PodMetricsList', apiVersion: `${GROUP}/${VERSION}`, metadata: {}, items };
  }
}
