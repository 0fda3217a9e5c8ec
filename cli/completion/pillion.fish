# Completion of pillion for fish.
function __pillion
    set -l words (commandline -opc) (commandline -ct)
    set -l found (command pillion __complete $words[2..] 2>/dev/null)
    if string match -q ':folders*' -- $found
        __fish_complete_directories (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c pillion -f -a '(__pillion)'
