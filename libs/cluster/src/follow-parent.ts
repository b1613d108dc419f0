// Loaded before the main of every process of a cluster: one whose cluster has died, however that came, stops as if told to.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
