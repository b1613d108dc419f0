import type { SearchProvider } from '@svc/contracts/catalog';
import { brave } from './brave.js';
import { exa } from './exa.js';
import { google } from './google.js';
import type { Provider } from './provider.js';
import { searxng } from './searxng.js';
import { tavily } from './tavily.js';

export interface ProviderSettings {
  /** The URL for providers of kind `simulator` that have none. */
  readonly simulatorUrl: string | undefined;
  /** Returns the environment variable that a provider's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
}

/** The provider of a catalogue entry; `undefined` without an address or key. */
export function providerOf(entry: SearchProvider, settings: ProviderSettings): Provider | undefined {
  const { name = entry.kind, deadlineMs, region, language } = entry;
  const terms = { name, deadlineMs, region, language };
  if (entry.kind === 'simulator') {
    const url = entry.url ?? settings.simulatorUrl;
    return url === undefined ? undefined : searxng({ ...terms, url });
  }
  if (entry.kind === 'searxng') return searxng({ ...terms, url: entry.url });
  const key = settings.secret(entry.apiKeyEnv);
  if (key === undefined || key === '') return undefined;
  const keyed = { ...terms, key, url: entry.url?.replace(/\/$/, '') };
  switch (entry.kind) {
    case 'brave':
      return brave(keyed);
    case 'tavily':
      return tavily(keyed);
    case 'exa':
      return exa(keyed);
    case 'google':
      return google({ ...keyed, engineId: entry.engineId });
  }
}
