/** The environment and the options of Node with which `npm start` starts the service. */
export const OWN_ENV = { MALLOC_ARENA_MAX: '1' };
export const OWN_OPTIONS = ['--max-semi-space-size=16'];
