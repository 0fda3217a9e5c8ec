#compdef pillion
# Completion of pillion for zsh.
_pillion() {
  local -a found
  found=("${(@f)$(command pillion __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $found[1] == :folders* ]]; then
    _files -/
  else
    found=("${found[@]/$'\t'/:}")
    _describe pillion found
  fi
}
if [[ $funcstack[1] == _pillion ]]; then
  _pillion "$@"
else
  compdef _pillion pillion
fi
