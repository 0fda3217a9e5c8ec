# Completion of pillion for bash.
_pillion() {
  local IFS=$'\n' found
  found=$(command pillion __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  if [ "$found" = :folders ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]}"))
  else
    COMPREPLY=($found)
  fi
}
complete -F _pillion pillion
