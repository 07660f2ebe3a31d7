// `svc service uninstall`: stops the service and removes its files. Data, configuration and secrets stay.
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import { installedServiceFor, USER_OPTION } from '../../service/service-of.ts';

export const command: Command = {
  noun: 'service',
  verb: 'uninstall',
  summary: 'Stops the service and removes it; the data of the project stays',
  options: [USER_OPTION, { flags: '--yes', description: 'Does it: a service that runs is stopped' }],
  examples: ['svc service uninstall --user --yes', 'sudo svc service uninstall --project /srv/svc/alice --yes'],
  async run(context, _args, options) {
    const { print } = context;
    const service = installedServiceFor(context, options);
    if (!service.isInstalled()) {
      print.json({ service: service.name, uninstalled: true, wasInstalled: false });
      print.text(`${service.name} is not installed`);
      return EXIT.ok;
    }
    if (options['yes'] !== true)
      throw new SvcError('usage', `this stops and removes ${service.name}`, { hint: 'say so with --yes' });
    await service.uninstall();
    print.json({ service: service.name, uninstalled: true, wasInstalled: true });
    print.text(print.color.good(`uninstalled ${service.name}; ${context.project()} is as it was`));
    return EXIT.ok;
  },
};
