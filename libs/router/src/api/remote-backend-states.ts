import { routes } from '@svc/api';
import { type RouterReport, BackendStates, joinedReports } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { type InternalClient, RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

/** A router responds from its memory. */
const CALL_MS = 5_000;

/** The state of the backends, as the routers of other processes see them. */
export class RemoteBackendStates extends BackendStates {
  constructor(private readonly client: InternalClient) {
    super();
  }

  override async report(): Promise<RouterReport> {
    const { method, path, reply } = routes.readBackends;
    try {
      const responses = await this.client.askAll({ method, path, deadlineMs: CALL_MS });
      const reports = responses
        .filter(({ status }) => status === routes.readBackends.status)
        .map(({ text }) => reply.parse(boundedJson(text, RESPONSE_JSON_LIMITS)).data);
      if (reports.length > 0) return joinedReports(reports);
      throw new Error(`the routers responded with ${responses.map(({ status }) => status).join()}`);
    } catch (cause) {
      throw new Problem('UNAVAILABLE', { cause });
    }
  }
}
