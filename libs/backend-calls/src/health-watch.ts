import { randomUUID } from 'node:crypto';
import { type Backend, haveChoice } from '@svc/contracts/catalog';
import { ExchangeTimedOut, type Logger } from '@svc/runtime';
import { errorType, router } from '@svc/telemetry';
import type { BackendPool, LiveBackend } from './backend-pool.js';
import type { Credentials } from './credentials.js';
import { type BackendHealth, BackendSilent } from './health/backend-health.js';
import { checkOf, isAlive } from './health/check-request.js';
import { outliersAmong } from './health/outliers.js';
import { fullnessIn } from './health/server-load.js';
import type { CallHead } from './planned-request.js';

/** How often the backends are looked at, with calls that wait and without. */
const BUSY_LOOK_MS = 500;
const LOOK_MS = 1_000;

/** How long a call may wait for its first byte before its backend is checked, if that gave no other sign. */
const DOUBT_MS = 1_000;

const CHECK_LIMIT_MS = 2_000;
const AFTER_FAILURE_MS = 500;
const CHECK_BYTES = 262_144;

/** The load of a backend that had no call for this long is not read. */
const LOAD_WANTED_MS = 5_000;

/** A model that had no call for this long is checked less often. */
const QUIET_MS = 600_000;
const QUIET_CHECK_MS = 60_000;

/** A failed check of a backend. */
interface Missed {
  /** In words for the operator. */
  readonly reason: string;
  readonly isSilent: boolean;
}

/** What a check needs to know of the API of a backend. */
interface CheckedApi {
  readonly headers: (head: CallHead) => Record<string, string>;
  /** Whether a provider has the backend. It is checked only if the catalogue says how. */
  readonly isHosted?: boolean;
}

interface HealthSettings {
  /** The backends of all models, by their ids. */
  readonly models: () => ReadonlyMap<string, readonly Backend[]>;
  readonly apiOf: (backend: Backend) => CheckedApi;
  readonly checkMs: number;
  /** How long a backend pauses the first time. */
  readonly pauseMs: number;
  readonly log: Logger;
}

/** When a backend was checked last, and how much later than usual it is to be checked. */
interface CheckState {
  lastMs: number;
  waitMs: number;
  jitter: number;
  isUnderWay: boolean;
  /** Whether its load is being read. */
  isReading: boolean;
}

const jitter = (): number => 0.8 + Math.random() * 0.4;

/**
 * Looks at the backends of models that have several. One that had no call for a while is checked, as is one
 * that lets calls wait without any other sign of life; one that answers no check is down, and its waiting
 * calls go elsewhere. One that does much worse than the others pauses. A model with a single backend is left
 * alone: nothing else could be called.
 */
export class HealthWatch {
  private timer: NodeJS.Timeout | undefined;
  private isOn = false;
  private startMs = 0;
  private readonly checks = new WeakMap<BackendHealth, CheckState>();

  constructor(
    private readonly pool: BackendPool,
    private readonly credentials: Credentials,
    private readonly settings: HealthSettings,
  ) {}

  start(): void {
    this.isOn = true;
    this.startMs = performance.now();
    this.refresh();
  }

  /** The catalogue has changed. */
  refresh(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.isOn) return;
    if ([...this.settings.models().values()].some(haveChoice)) this.look();
  }

  stop(): void {
    this.isOn = false;
    clearTimeout(this.timer);
  }

  private look(): void {
    const { checkMs } = this.settings;
    const nowMs = performance.now();
    let isBusy = false;
    for (const [model, backends] of this.settings.models()) {
      const members = this.pool
        .members(backends)
        .filter(({ name }) => this.pool.drains.of(model, name)?.state !== 'off');
      if (members.length < 2) continue;
      const isQuiet = members.every(
        ({ health }) => nowMs - Math.max(health.calledMs, this.startMs) > QUIET_MS,
      );
      for (const live of members) {
        live.health.recent.turn(nowMs);
        isBusy ||= live.health.waiting.size > 0 || live.health.isInQuestion;
        this.lookAt(model, live, isQuiet ? Math.max(QUIET_CHECK_MS, checkMs) : checkMs);
      }
      if (!isQuiet) this.eject(model, members);
    }
    this.timer = setTimeout(() => this.look(), isBusy ? BUSY_LOOK_MS : LOOK_MS).unref();
  }

  private lookAt(model: string, live: LiveBackend, everyMs: number): void {
    const { health } = live;
    const nowMs = performance.now();
    // The first check is some time after the start, not at the same time as those of others.
    const state = this.checks.get(health) ?? {
      lastMs: nowMs - Math.random() * everyMs,
      waitMs: 0,
      jitter: jitter(),
      isUnderWay: false,
      isReading: false,
    };
    this.checks.set(health, state);
    if (live.backend.loadPath !== undefined && nowMs - health.calledMs < LOAD_WANTED_MS)
      this.readLoad(live, live.backend.loadPath, state);
    const plan = checkOf(live, this.settings.apiOf(live.backend).isHosted);
    if (!plan || state.isUnderWay) return;
    const [oldest] = health.waiting;
    const isWaiting =
      plan.isConcurrent &&
      oldest !== undefined &&
      nowMs - oldest.startMs > DOUBT_MS &&
      health.lifeMs < oldest.startMs;
    const isNew = isWaiting && !health.isDoubtful;
    if (isNew) health.isDoubtful = true;
    const waitMs = state.waitMs > 0 ? state.waitMs : everyMs * state.jitter;
    const sinceMs = health.isInQuestion ? state.lastMs : Math.max(state.lastMs, health.lifeMs);
    if (!isNew && nowMs - sinceMs < waitMs) return;
    // It never rejects.
    void this.check(model, live, { path: plan.path, isConcurrent: plan.isConcurrent, state });
  }

  /** Reads the load of a backend that has calls. Without it, only the calls of this process count. */
  private readLoad(live: LiveBackend, path: string, state: CheckState): void {
    if (state.isReading) return;
    state.isReading = true;
    void this.text(live, path)
      .then(
        ({ status, text }) => (status === 200 ? fullnessIn(text) : undefined),
        () => undefined,
      )
      .then((fullness) => {
        live.health.reportsFullness(fullness, performance.now());
        state.isReading = false;
      });
  }

  private async check(
    model: string,
    live: LiveBackend,
    {
      path,
      isConcurrent,
      state,
    }: { readonly path: string; readonly isConcurrent: boolean; readonly state: CheckState },
  ): Promise<void> {
    const { health } = live;
    const startMs = performance.now();
    Object.assign(state, { isUnderWay: true, lastMs: startMs, waitMs: 0, jitter: jitter() });
    const missed = await this.ask(live, path);
    state.isUnderWay = false;
    state.lastMs = performance.now();
    const isBusy = missed?.isSilent === true && !isConcurrent && live.inFlight > 0;
    // It may have answered a call in the meantime.
    if (!missed || isBusy || health.lifeMs >= startMs) {
      router.checks.add(1, model, live.name, 'answered');
      const wasDown = health.isDown;
      health.checked(performance.now());
      if (health.isDown) state.waitMs = AFTER_FAILURE_MS;
      else if (wasDown) this.settings.log.info({ model, backend: live.name }, 'a backend is back');
      return;
    }
    router.checks.add(1, model, live.name, 'failed');
    const wasDown = health.isDown;
    const isDown = health.missed(missed.reason, this.settings.pauseMs) || wasDown;
    if (!isDown) state.waitMs = AFTER_FAILURE_MS;
    if (!isDown || wasDown) return;
    router.ejections.add(1, model, live.name, 'down');
    live.work.forget();
    this.settings.log.warn({ model, backend: live.name, reason: missed.reason }, 'a backend is down');
    if (missed.isSilent) releaseCalls(health);
  }

  private text(live: LiveBackend, path: string): Promise<{ status: number; text: string }> {
    const { 'content-type': _, ...headers } = this.settings.apiOf(live.backend).headers({
      requestId: randomUUID(),
      key: this.credentials.keyOf(live),
    });
    const request = {
      method: 'GET',
      origin: live.origin,
      path,
      headers,
      pauseMs: CHECK_LIMIT_MS,
      deadlineMs: CHECK_LIMIT_MS,
    } as const;
    return this.pool.callApart(request, { mayRepeat: true }, async (exchange) => {
      const text = await exchange.beginning(CHECK_BYTES);
      return { status: exchange.status, text };
    });
  }

  /** Why a check failed; `undefined` if it was answered. */
  private async ask(live: LiveBackend, path: string): Promise<Missed | undefined> {
    try {
      const { status } = await this.text(live, path);
      return isAlive(status) ? undefined : { reason: `Its check responds with ${status}`, isSilent: false };
    } catch (error) {
      const isSilent = error instanceof ExchangeTimedOut;
      const reason = isSilent ? 'Its check gets no response' : `Its check fails: ${errorType(error)}`;
      return { reason, isSilent };
    }
  }

  /** Lets those pause that do much worse than the others. */
  private eject(model: string, members: readonly LiveBackend[]): void {
    const { pauseMs } = this.settings;
    for (const { health, reason, text, slowMs } of outliersAmong(members.map((live) => live.health))) {
      health.pauseAsOutlier(text, pauseMs, slowMs);
      const { name } = members.find((live) => live.health === health) ?? { name: '' };
      router.ejections.add(1, model, name, reason);
      this.settings.log.warn({ model, backend: name, reason: text }, 'a backend does worse than the others');
    }
  }
}

/** Calls that have waited for a while go elsewhere. */
function releaseCalls(health: BackendHealth): void {
  const latestMs = performance.now() - DOUBT_MS;
  for (const call of health.waiting) if (call.startMs < latestMs) call.giveUp(new BackendSilent());
}
