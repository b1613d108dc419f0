// Runs a dashboard's queries on a Prometheus, like Grafana.

const TIMEOUT_MS = 30_000;

/** A Prometheus over a period, with the values of a dashboard's variables. */
export class Asked {
  #variables = { __rate_interval: '20s' };

  constructor(url, { fromSeconds, toSeconds, stepSeconds }) {
    this.url = url;
    this.period = { fromSeconds, toSeconds, stepSeconds };
  }

  async #get(path, parameters) {
    const response = await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(parameters)}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, data, error } = await response.json();
    if (status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${error}`);
    return data;
  }

  #filled = (text) => text.replaceAll(/\$(\w+)/g, (_, name) => this.#variables[name] ?? '');

  /**
   * Sets each variable to its first value, or to all if it allows that, and returns the selection for
   * display.
   */
  async choose(variables) {
    const chosen = [];
    for (const { type, name, label, query, includeAll, allValue } of variables) {
      if (type !== 'query') continue;
      const [, series, of] = /^label_values\((.+), (\w+)\)$/.exec(query.query);
      const { fromSeconds: start, toSeconds: end } = this.period;
      const values = await this.#get(`label/${of}/values`, { 'match[]': this.#filled(series), start, end });
      this.#variables[name] = includeAll ? allValue : (values[0] ?? '');
      chosen.push({ label, value: includeAll ? 'All' : (values[0] ?? '') });
    }
    return chosen;
  }

  /** The series of a query, each with name and points. */
  async series({ expr, legendFormat, instant }) {
    const { fromSeconds: start, toSeconds: end, stepSeconds: step } = this.period;
    const query = this.#filled(expr);
    const { result } = instant
      ? await this.#get('query', { query, time: end })
      : await this.#get('query_range', { query, start, end, step });
    return result.map(({ metric, values, value }) => ({
      name: legendFormat.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? '') || expr,
      points: (values ?? [value]).map(([at, text]) => [at, Number(text)]),
    }));
  }

  /** The exemplars of a query that requests them. */
  async exemplars({ expr, exemplar }) {
    if (!exemplar) return [];
    const { fromSeconds: start, toSeconds: end } = this.period;
    const data = await this.#get('query_exemplars', { query: this.#filled(expr), start, end });
    return data.flatMap(({ exemplars }) =>
      exemplars.map(({ timestamp, value }) => [timestamp, Number(value)]),
    );
  }
}
