// The settings that a supervisor needs. It reads no configuration itself: the command that starts it and each worker send them.
import type { SupervisorSettings } from '../api/ipc.ts';
import { withoutSecrets } from '../log/redaction.ts';
import type { LoadedConfig } from './load.ts';

export function supervisorSettings({ config, version, secrets }: LoadedConfig): SupervisorSettings {
  const { restarts, windowSeconds, upTimeoutSeconds, watchdogSeconds, stopTimeoutSeconds, log, standby } =
    config.supervisor;
  return {
    restarts,
    windowMs: windowSeconds * 1_000,
    upMs: upTimeoutSeconds * 1_000,
    watchdogMs: watchdogSeconds * 1_000,
    stopMs: stopTimeoutSeconds * 1_000,
    logBytes: log.maxBytes,
    logFiles: log.maxFiles,
    configVersion: version,
    project: withoutSecrets(config.host.name, secrets),
    host: config.http.host,
    port: config.http.port,
    standby,
  };
}
