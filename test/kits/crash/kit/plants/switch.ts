// No fault, but points in a switch, whoever carries it out: a restore, a release, a start of the host, `restore --finish`. The product names points in
// a restore alone. SVC_FAILPOINTS asks for them: `switch.decided`, `switch.renamed`, `switch.finished`.
import { failpointsOf } from '../../../../../shared/process/failpoints.ts';
import { decideSwitch as decideReal, finishSwitch as Real } from '../../../../../shared/recovery/switch.ts';

export {
  type FinishOptions,
  type Rename,
  readSwitch,
  renamesLeft,
  type Switch,
  type SwitchFiles,
  type SwitchPurpose,
} from '../../../../../shared/recovery/switch.ts';

/** Read once: a worker clears its environment. */
const failpoint = failpointsOf(process.env['SVC_FAILPOINTS']);

export const decideSwitch: typeof decideReal = (...args) => {
  decideReal(...args);
  void failpoint('switch.decided');
};

export const finishSwitch: typeof Real = (project, options) =>
  Real(project, {
    ...options,
    onStep: (step) => {
      options?.onStep?.(step);
      void failpoint(`switch.${step}`);
    },
  });
