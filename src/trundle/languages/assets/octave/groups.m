% GROUPS  Names, units and defaults of all numbers, in the functions' order: all.state.names{1}
% @NAME@, @SIGNATURE@. README.md tells what every function takes and gives.
function all = groups()
@LINES@
end
