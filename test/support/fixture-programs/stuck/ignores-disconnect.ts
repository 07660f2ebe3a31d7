// A worker that outlives its supervisor where it can: no guard but the kernel's.
import { comeUp, tell } from '../../process/fixture-worker.ts';

tell({ type: 'hello', protocol: 1, capabilities: [], runtimeId: `fixture-${process.pid}`, version: 'fixture' });
process.on('disconnect', () => {});
process.on('uncaughtException', () => {}); // nobody hears the heartbeat any more
process.channel?.unref();
comeUp();
