// Preloaded by every process of a cluster: if the cluster dies in any way, its processes stop as on SIGTERM.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
