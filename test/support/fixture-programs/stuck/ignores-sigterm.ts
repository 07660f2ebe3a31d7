// Comes up and hears neither SIGTERM nor its supervisor.
import { comeUp, hello } from '../../process/fixture-worker.ts';

process.on('SIGTERM', () => {});
hello();
comeUp();
