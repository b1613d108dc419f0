import { statfsSync } from 'node:fs';
import { runtime } from '../instruments/runtime.js';

/** Reports how full the disk of a folder is, at every collection. Returns a function that ends that. */
export function watchDisk(name: string, folder: string): () => void {
  const read = (of: 'bavail' | 'blocks') => (): [number, string][] => {
    try {
      const stats = statfsSync(folder);
      return [[stats[of] * stats.bsize, name]];
    } catch {
      // The folder is gone, which whoever writes to it reports.
      return [];
    }
  };
  const ends = [runtime.diskAvailable.observe(read('bavail')), runtime.diskSize.observe(read('blocks'))];
  return () => {
    for (const end of ends) end();
  };
}
