// A worker without a fault that listens on the socket that it is handed.
import { listenOnHanded, obey } from '../process/fixture-worker.ts';

obey();
listenOnHanded();
