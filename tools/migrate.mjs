// Migrates the tables of DATABASE_URL. An installation runs it before its processes are upgraded.
import { loadConfig } from '@svc/runtime';
import { migrate, migrationsConfig } from '@svc/storage';

try {
  const { DATABASE_URL: url } = loadConfig(migrationsConfig, process.env);
  const applied = await migrate(url);
  for (const name of applied) console.log(`applied ${name}`);
  if (applied.length === 0) console.log('all migrations were already applied');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
