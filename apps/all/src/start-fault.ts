import { ConfigError, FileError } from '@svc/runtime';
import { InstanceRunning } from '@svc/storage';

/** Why a start failed, for a person at a terminal. A fault that nobody foresaw keeps its stack. */
export function startFault(error: unknown): string {
  if (error instanceof ConfigError || error instanceof FileError) return error.message;
  if (error instanceof InstanceRunning) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${String(error.port)} is taken. Choose another with PORT or OPERATOR_PORT.`;
  }
  if (error instanceof Error && 'code' in error && error.code === 'EACCES' && 'path' in error) {
    return `No permission for ${String(error.path)}.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
