export { COMFY_WORKFLOW, ComfyServer } from './comfy-server.js';
export { type LocalIdentity, localIdentity } from './local-identity.js';
export { Mailbox } from './mailbox.js';
export { overWire } from './over-wire.js';
export { isLong, isNightly, repeats } from './repeats.js';
export { RunningProcess, type ProgramOptions } from './running-process.js';
export { alternates, strictFault } from './strict-server.js';
export { TestServer } from './test-server.js';
export { TunnelProxy } from './tunnel-proxy.js';
