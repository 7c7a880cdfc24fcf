% Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows.
function main(seconds, h, input)
  groups = @NAME@.groups();
  if nargin < 1, seconds = 10; end
  if nargin < 2, h = @STEP@; end
  if nargin < 3, input = [@GIVEN@]; end
  state = groups.state.defaults;
  parameter = groups.parameter.defaults;
  names = groups.input.names';
  if ~(seconds > 0 && h > 0 && seconds / h <= 2e9) || numel(input) ~= numel(names)
    error('main(SECONDS, STEP, INPUT), with %d inputs: %s', numel(names), strjoin(names, ', '));
  end
  input = input(:);
  fprintf('@COLUMNS@\n');
  steps = round(seconds / h);
  for k = 0:steps
    if mod(k, max(1, floor(steps / 100))) == 0 || k == steps
      fprintf('%s\n', strjoin(arrayfun(@(x) sprintf('%.17g', x), [k * h; state]', 'UniformOutput', false), ','));
    end
    if k < steps
      state = @NAME@.step(state, input, parameter, h);
    end
  end
end
