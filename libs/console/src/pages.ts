import type { PageEntry } from './shell/page-entry.js';

/** The pages in the order of the menu. The code of each is loaded when it is opened. */
export const PAGES: readonly PageEntry[] = [
  {
    name: '',
    title: 'Overview',
    isForAll: true,
    load: async () => (await import('./overview/overview-page.js')).OverviewPage,
  },
  {
    name: 'playground',
    title: 'Playground',
    isForAll: true,
    load: async () => (await import('./playground/playground-page.js')).PlaygroundPage,
  },
  {
    name: 'keys',
    title: 'Keys',
    isForAll: false,
    load: async () => (await import('./keys/keys-page.js')).KeysPage,
  },
  {
    name: 'usage',
    title: 'Usage',
    isForAll: true,
    load: async () => (await import('./usage/usage-page.js')).UsagePage,
  },
  {
    name: 'requests',
    title: 'Requests',
    isForAll: true,
    load: async () => (await import('./requests/requests-page.js')).RequestsPage,
  },
];
