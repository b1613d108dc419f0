import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Where each worker controls the deployment that its end-to-end tests share. Takes an `Arrangement` by
     * POST and returns a `Deployed` once the deployment is configured so; returns all logs by GET.
     */
    readonly controlUrls: readonly string[] | undefined;
    /**
     * Whether that is a cluster. Otherwise it is a process, and files with settings of their own start
     * another one.
     */
    readonly isClustered: boolean | undefined;
  }
}

/** A running deployment. */
export interface Deployed {
  readonly apiUrl: string;
  /** Of each gateway, without the balancer. */
  readonly gatewayUrls: readonly string[];
  readonly operatorUrl: string;
  /** Where videos and music are. */
  readonly mediaDir: string;
  /** Where the files are that every process reads. */
  readonly env: { readonly SVC_CATALOG: string; readonly SVC_CHARACTERS: string };
}

/** The configuration that a test file needs. */
export interface Arrangement {
  readonly env: Readonly<Record<string, string>>;
  /** The contents of the files. */
  readonly catalog: string;
  readonly characters: string;
}

/** Whether this run's tests run against clusters. */
export const isClustered = (): boolean => inject('isClustered') === true;

/** The configurations of this worker's deployment, latest last: a file may start a second platform. */
const arrangements: Arrangement[] = [];

/** Whether the worker has a deployment that no other platform of the file uses. */
export const isTargetFree = (): boolean => inject('controlUrls') !== undefined && arrangements.length === 0;

/** Configures the worker's deployment as a test needs it. `leave` restores the previous configuration. */
export async function arrange(wanted: Arrangement): Promise<Deployed & { leave: () => Promise<void> }> {
  arrangements.push(wanted);
  const leave = async (): Promise<void> => {
    arrangements.splice(arrangements.indexOf(wanted), 1);
    const before = arrangements.at(-1);
    if (before) await configure(before);
  };
  try {
    return { ...(await configure(wanted)), leave };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** The logs of all processes of the worker's deployment. */
export async function sharedLogs(): Promise<string> {
  return (await fetch(controlUrl())).text();
}

async function configure(wanted: Arrangement): Promise<Deployed> {
  const response = await fetch(controlUrl(), { method: 'POST', body: JSON.stringify(wanted) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Deployed;
}

/** Vitest numbers the workers that run at the same time from 1 to their number. */
function controlUrl(): string {
  const urls = inject('controlUrls') ?? [];
  const url = urls[Number(process.env['VITEST_POOL_ID']) % urls.length];
  if (url === undefined) throw new Error('there is no deployment for this worker');
  return url;
}
