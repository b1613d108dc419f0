// Telemetry with everything enabled: traces of 1 %, metrics and traces by OTLP every 5 s, and a Prometheus
// scrape every second.
import { once } from 'node:events';
import { createServer } from 'node:http';

const METRICS_TOKEN = 'metrics-token-of-the-bench-of-telemetry';
const SCRAPE_MS = 1_000;

/** Receives OTLP data of processes with the settings `env`, and scrapes their metrics. */
export class TelemetrySink {
  requests = 0;
  #server = createServer();
  #scrapes = [];

  static async start() {
    const sink = new TelemetrySink();
    sink.#server.on('request', (request, response) => {
      sink.requests += 1;
      request.resume().on('end', () => response.end());
    });
    sink.#server.listen(0, '127.0.0.1');
    await once(sink.#server, 'listening');
    return sink;
  }

  get env() {
    return {
      SVC_METRICS_TOKEN: METRICS_TOKEN,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#server.address().port}`,
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    };
  }

  scrape(metricsUrl) {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const scrape = () =>
      fetch(metricsUrl, { headers })
        .then((response) => response.text())
        .catch(() => undefined);
    this.#scrapes.push(setInterval(() => void scrape(), SCRAPE_MS));
  }

  stop() {
    for (const scrape of this.#scrapes) clearInterval(scrape);
    this.#server.close();
  }
}
